-- What an attempt needs to know of its trace comes with the claim. A join around the call reads as of the statement's begin: a delivery put in
-- line after that was claimed and not handed out, and waited for its lease to end.
drop function webhooks.claim(integer, integer, integer, bigint);

-- Takes due deliveries under leases: the longest due endpoints first, one of each in turn, as many as each has room for. An endpoint another
-- claimer holds is skipped.
create function webhooks.claim(capacity integer, most_endpoints integer, most integer, lease_ms bigint)
returns table (
  id uuid, endpoint bigint, project uuid, review uuid, event_type text, url text, body text, request_id text, lease uuid,
  attempts integer, attempts_apart integer, age_ms bigint, traceparent text, tracestate text
)
language plpgsql
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  at_time timestamptz := webhooks.time_now();
  locked bigint[];
  rooms integer[];
  expedited_only boolean[];
begin
  select array_agg(e.id), array_agg(greatest(0, e.allowed - e.running)), array_agg(e.only_expedited) into locked, rooms, expedited_only
  from (
    select l.id, coalesce(l.open_until > at_time, false) as only_expedited, webhooks.attempts_allowed(l.failures, l.open_until, most) as allowed,
      (select count(*)::integer from webhooks.deliveries d where d.endpoint = l.id and d.lease is not null and d.next_attempt_at > at_time)
        as running
    from (
      select id, failures, open_until from webhooks.endpoints where due_at <= at_time order by due_at limit most_endpoints
      for no key update skip locked
    ) l
  ) e;
  if locked is null then
    return;
  end if;
  return query
  with chosen as (
    select d.id, d.lost, row_number() over (partition by e.id order by d.next_attempt_at, d.sequence) as turn, d.next_attempt_at
    from unnest(locked, rooms, expedited_only) as e (id, room, expedited_only)
    cross join lateral (
      (select id, lease is not null as lost, next_attempt_at, sequence from webhooks.deliveries
       where endpoint = e.id and not e.expedited_only and next_attempt_at <= at_time order by next_attempt_at, sequence limit e.room)
      union all
      (select id, lease is not null, next_attempt_at, sequence from webhooks.deliveries
       where endpoint = e.id and e.expedited_only and expedited and next_attempt_at <= at_time order by next_attempt_at, sequence limit e.room)
    ) d
    order by turn, d.next_attempt_at limit capacity
  ),
  taken as (
    update webhooks.deliveries d
    set attempts = d.attempts + 1, lease = gen_random_uuid(), next_attempt_at = at_time + lease_ms * interval '1 millisecond',
      expedited = false, last_attempt_at = at_time
    from chosen where d.id = chosen.id
    returning d.id, d.endpoint, d.project, d.review, d.event_type, d.url, d.body, d.request_id, d.lease, d.attempts, d.attempts_apart,
      d.created_at, d.traceparent, d.tracestate, chosen.lost
  ),
  lost as (
    update webhooks.attempts a set stage = 'attempt', outcome = 'failed',
      error = 'The process that made this attempt ended before it had an answer; whether the receiver saw it is unknown.'
    from taken where taken.lost and a.delivery = taken.id and a.outcome is null
  ),
  begun as (
    insert into webhooks.attempts (delivery, number, started_at) select id, attempts, at_time from taken
  )
  select t.id, t.endpoint, t.project, t.review, t.event_type, t.url, t.body, t.request_id, t.lease, t.attempts, t.attempts_apart,
    (extract(epoch from at_time - t.created_at) * 1000)::bigint, t.traceparent, t.tracestate
  from taken t;
  perform webhooks.set_due_times(locked, at_time, most);
end $$;
