-- breaking
-- One word each: a delivery that will not be tried again is `dead_lettered` (the API calls it `failed`), one that is tried even while the
-- circuit is open is `expedited`.
alter table webhooks.deliveries drop constraint deliveries_status_check;
drop index webhooks.deliveries_replay_told, webhooks.deliveries_failed;
update webhooks.deliveries set status = 'dead_lettered' where status = 'failed';
alter table webhooks.deliveries add constraint deliveries_status_check check (status in ('pending', 'delivered', 'dead_lettered'));
create index deliveries_replay_told on webhooks.deliveries (replay_told_at) where status = 'dead_lettered' and replay_told > replays;
create index deliveries_dead_lettered on webhooks.deliveries (project, created_at desc, id desc) where status = 'dead_lettered';
alter table webhooks.deliveries rename column dead_reason to dead_letter_reason;
alter table webhooks.deliveries rename constraint deliveries_dead_reason_check to deliveries_dead_letter_reason_check;

drop function webhooks.advance_heads(uuid[], timestamptz, boolean, boolean);
-- Lets the first waiting delivery of each review be the head, due now. With `expedite_waiting` a head that waits for a retry is
-- tried at once, even while the circuit is open; with `expedite_all` so is one that was not due before. One that is being tried is left alone.
create function webhooks.advance_heads(reviews uuid[], at_time timestamptz, expedite_waiting boolean, expedite_all boolean) returns void
language sql
set enable_seqscan = off
as $$
  update webhooks.deliveries d
  set next_attempt_at = least(d.next_attempt_at, at_time), expedited = d.expedited or expedite_all or (expedite_waiting and d.next_attempt_at is not null)
  from (select distinct on (review) id from webhooks.deliveries where review = any(reviews) and status = 'pending' order by review, sequence) head
  where d.id = head.id and (d.next_attempt_at is null or (expedite_waiting and d.lease is null))
$$;

-- Takes due deliveries under leases: the longest due endpoints first, one of each in turn, as many as each has room for. An endpoint another
-- claimer holds is skipped.
create or replace function webhooks.claim(capacity integer, most_endpoints integer, most integer, lease_ms bigint)
returns table (
  id uuid, endpoint bigint, project uuid, review uuid, event_type text, url text, body text, request_id text, lease uuid,
  attempts integer, attempts_apart integer
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
    returning d.id, d.endpoint, d.project, d.review, d.event_type, d.url, d.body, d.request_id, d.lease, d.attempts, d.attempts_apart, chosen.lost
  ),
  lost as (
    update webhooks.attempts a set stage = 'attempt', outcome = 'failed',
      error = 'The process that made this attempt ended before it had an answer; whether the receiver saw it is unknown.'
    from taken where taken.lost and a.delivery = taken.id and a.outcome is null
  ),
  begun as (
    insert into webhooks.attempts (delivery, number, started_at) select id, attempts, at_time from taken
  )
  select t.id, t.endpoint, t.project, t.review, t.event_type, t.url, t.body, t.request_id, t.lease, t.attempts, t.attempts_apart from taken t;
  perform webhooks.set_due_times(locked, at_time, most);
end $$;

-- Writes down what attempts led to, moves their reviews on, and what is known of their endpoints. `results` is an array of
--   {id, endpoint, lease, number, next: delivered | retry | dead_lettered | postponed, delay_ms, counts, reason, health: alive | failing | unknown,
--    stage, status_code, latency_ms, error, preview}
-- Returns the deliveries that have come to an end.
create or replace function webhooks.settle(
  results jsonb, backoff_ms bigint[], threshold integer, max_open_ms bigint, most integer
) returns setof uuid
language plpgsql
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  locked bigint[];
  at_time timestamptz;
  ended uuid[];
  moved uuid[];
  held uuid[];
  held_reviews uuid[];
begin
  select array_agg(id) into locked from (
    select id from webhooks.endpoints where id = any(select (r ->> 'endpoint')::bigint from jsonb_array_elements(results) r)
    order by id for no key update
  ) in_order;
  at_time := webhooks.time_now();

  -- An attempt that could not be made for a reason of ours is taken back.
  with back as (
    select * from jsonb_to_recordset(results) as r (id uuid, lease uuid, number integer, next text, delay_ms bigint) where next = 'postponed'
  ), undone as (
    delete from webhooks.attempts a using back where a.delivery = back.id and a.number = back.number and a.outcome is null
  )
  update webhooks.deliveries d set attempts = d.attempts - 1, lease = null, next_attempt_at = at_time + back.delay_ms * interval '1 millisecond',
    last_attempt_at = (select max(started_at) from webhooks.attempts a where a.delivery = d.id and a.number <> back.number)
  from back where d.id = back.id and d.lease = back.lease;

  update webhooks.attempts a set stage = r.stage, outcome = case r.next when 'delivered' then 'delivered' else 'failed' end,
    status_code = r.status_code, latency_ms = r.latency_ms, error = r.error, response_preview = r.preview,
    next_attempt_at = case r.next when 'retry' then at_time + r.delay_ms * interval '1 millisecond' end
  from jsonb_to_recordset(results) as r (id uuid, number integer, next text, delay_ms bigint, stage text, status_code integer,
    latency_ms integer, error text, preview text)
  where a.delivery = r.id and a.number = r.number and r.next <> 'postponed';

  -- Only while the lease is still the attempt's: past that, the delivery is somebody else's.
  with moved_on as (
    update webhooks.deliveries d
    set status = case r.next when 'retry' then 'pending' when 'dead_lettered' then 'dead_lettered' else 'delivered' end,
      next_attempt_at = case r.next when 'retry' then at_time + r.delay_ms * interval '1 millisecond' end,
      lease = null, last_error = case r.next when 'delivered' then null else r.error end, dead_letter_reason = r.reason,
      attempts_apart = d.attempts_apart + case when r.next = 'retry' and not r.counts then 1 else 0 end,
      delivered_at = case r.next when 'delivered' then at_time end, settled_at = case r.next when 'retry' then null else at_time end,
      unrecorded = r.next <> 'retry'
    from jsonb_to_recordset(results) as r (id uuid, lease uuid, next text, delay_ms bigint, counts boolean, reason text, error text)
    where d.id = r.id and d.lease = r.lease and r.next <> 'postponed'
    returning d.id, d.review, d.status <> 'pending' as has_ended
  )
  select array_agg(id), array_agg(distinct review) into ended, moved from moved_on where has_ended;

  with seen as (
    select (r ->> 'endpoint')::bigint as endpoint, r ->> 'health' as health, r ->> 'error' as error, ord
    from jsonb_array_elements(results) with ordinality as x (r, ord)
  ), news as (
    select e.id, bool_or(s.health = 'alive') as worked, count(*) filter (where s.health = 'failing' and s.ord > l.last_alive) as failed_since,
      case when bool_or(s.health = 'alive') then 0 else e.failures end as base,
      (array_agg(s.error order by s.ord desc) filter (where s.health = 'failing'))[1] as error
    from webhooks.endpoints e
    join seen s on s.endpoint = e.id
    cross join lateral (select coalesce(max(ord), 0) as last_alive from seen where endpoint = e.id and health = 'alive') l
    where e.id = any(locked) group by e.id, e.failures
  )
  update webhooks.endpoints e set failures = n.base + n.failed_since,
    open_until = case
      when n.failed_since > 0 then at_time + webhooks.circuit_pause((n.base + n.failed_since)::integer, threshold, backoff_ms, max_open_ms)
      when n.worked then null
      else e.open_until end,
    last_success_at = case when n.worked then at_time else e.last_success_at end,
    last_failure_at = case when n.error is not null then at_time else e.last_failure_at end,
    last_error = coalesce(n.error, e.last_error)
  from news n where e.id = n.id;

  -- What an open circuit has held back for as long as a whole round of attempts takes becomes a dead letter, so that nothing waits for ever for an
  -- endpoint that is gone. Only a failure seen after that time counts: a server that was off does not dead-letter what it never tried.
  with too_long as (
    update webhooks.deliveries d set status = 'dead_lettered', next_attempt_at = null, expedited = false, dead_letter_reason = 'endpoint_unavailable',
      last_error = 'The endpoint stayed unavailable for as long as all attempts would have taken; no further attempt was made.',
      settled_at = at_time, unrecorded = true
    from (
      select d.id from webhooks.endpoints e join webhooks.deliveries d on d.endpoint = e.id
      where e.id = any(locked) and e.open_until is not null and e.last_failure_at = at_time and d.lease is null
        and d.next_attempt_at <= at_time - (select sum(ms) from unnest(backoff_ms) ms) * interval '1 millisecond'
      limit 500
    ) too_late
    where d.id = too_late.id returning d.id, d.review
  )
  select array_agg(id), array_agg(distinct review) into held, held_reviews from too_long;

  perform webhooks.advance_heads(moved || held_reviews, at_time, false, false);
  perform webhooks.set_due_times(locked, at_time, most);
  return query select unnest(ended || held);
end $$;

-- Takes away the bodies, what was answered to them, and all of the address but its origin. What still waits becomes a dead letter, since there is
-- nothing left to send; an attempt that is running has its bytes, and what comes of it is no longer written down.
create or replace function webhooks.erase(erased uuid[], most integer) returns void
language plpgsql
set enable_seqscan = off
as $$
declare
  locked bigint[];
  at_time timestamptz;
begin
  select array_agg(id) into locked from (
    select id from webhooks.endpoints where id in (select endpoint from webhooks.deliveries where review = any(erased))
    order by id for no key update
  ) in_order;
  if locked is null then
    return;
  end if;
  at_time := webhooks.time_now();

  delete from webhooks.attempts a using webhooks.deliveries d where d.review = any(erased) and a.delivery = d.id and a.outcome is null;
  update webhooks.attempts a set response_preview = null, error = coalesce(substring(a.error from '^HTTP [0-9]+'), a.error)
  from webhooks.deliveries d where d.review = any(erased) and a.delivery = d.id;

  update webhooks.deliveries d set body = null, url = e.origin, last_error = coalesce(substring(d.last_error from '^HTTP [0-9]+'), d.last_error)
  from webhooks.endpoints e where d.review = any(erased) and e.id = d.endpoint;
  update webhooks.deliveries set status = 'dead_lettered', next_attempt_at = null, lease = null, expedited = false, dead_letter_reason = 'review_erased',
    last_error = 'The review was erased before delivery.', settled_at = at_time, unrecorded = true
  where review = any(erased) and status = 'pending';
  perform webhooks.set_due_times(locked, at_time, most);
end $$;
