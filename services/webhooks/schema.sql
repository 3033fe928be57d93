-- schema webhooks
table webhooks.attempts
  delivery uuid not null
  number integer not null
  started_at timestamp with time zone not null
  stage text
  outcome text
  status_code integer
  latency_ms integer
  error text
  response_preview text
  next_attempt_at timestamp with time zone
  constraint attempts_delivery_fkey FOREIGN KEY (delivery) REFERENCES webhooks.deliveries(id)
  constraint attempts_outcome_check CHECK ((outcome = ANY (ARRAY['delivered'::text, 'failed'::text])))
  constraint attempts_pkey PRIMARY KEY (delivery, number)
  constraint attempts_stage_check CHECK ((stage = ANY (ARRAY['before'::text, 'attempt'::text, 'after'::text])))
  CREATE UNIQUE INDEX attempts_pkey ON webhooks.attempts USING btree (delivery, number)
table webhooks.deliveries
  id uuid not null
  endpoint bigint not null
  project uuid not null
  review uuid
  event_type text not null
  url text not null
  body text
  request_id text
  sequence bigint not null default nextval('webhooks.delivery_sequence'::regclass)
  status text not null
  attempts integer not null default 0
  attempts_apart integer not null default 0
  next_attempt_at timestamp with time zone
  lease uuid
  expedited boolean not null default false
  last_attempt_at timestamp with time zone
  last_error text
  dead_letter_reason text
  delivered_at timestamp with time zone
  replays integer not null default 0
  replay_told integer not null default 0
  replay_told_at timestamp with time zone
  unrecorded boolean not null default false
  created_at timestamp with time zone not null
  settled_at timestamp with time zone
  traceparent text
  tracestate text
  constraint deliveries_dead_letter_reason_check CHECK ((dead_letter_reason = ANY (ARRAY['attempts_exhausted'::text, 'gone'::text, 'endpoint_unavailable'::text, 'review_erased'::text])))
  constraint deliveries_endpoint_fkey FOREIGN KEY (endpoint) REFERENCES webhooks.endpoints(id)
  constraint deliveries_pkey PRIMARY KEY (id)
  constraint deliveries_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'delivered'::text, 'dead_lettered'::text])))
  CREATE INDEX deliveries_dead_lettered ON webhooks.deliveries USING btree (project, created_at DESC, id DESC) WHERE (status = 'dead_lettered'::text)
  CREATE INDEX deliveries_due ON webhooks.deliveries USING btree (endpoint, next_attempt_at, sequence) WHERE (next_attempt_at IS NOT NULL)
  CREATE INDEX deliveries_expedited ON webhooks.deliveries USING btree (endpoint, next_attempt_at) WHERE expedited
  CREATE INDEX deliveries_kept ON webhooks.deliveries USING btree (settled_at) WHERE ((status = 'delivered'::text) AND (body IS NOT NULL))
  CREATE INDEX deliveries_newest ON webhooks.deliveries USING btree (project, created_at DESC, id DESC)
  CREATE INDEX deliveries_of_review ON webhooks.deliveries USING btree (review, created_at DESC, id DESC)
  CREATE UNIQUE INDEX deliveries_pkey ON webhooks.deliveries USING btree (id)
  CREATE INDEX deliveries_replay_told ON webhooks.deliveries USING btree (replay_told_at) WHERE ((status = 'dead_lettered'::text) AND (replay_told > replays))
  CREATE INDEX deliveries_running ON webhooks.deliveries USING btree (endpoint) WHERE (lease IS NOT NULL)
  CREATE INDEX deliveries_unrecorded ON webhooks.deliveries USING btree (settled_at) WHERE unrecorded
  CREATE INDEX deliveries_waiting ON webhooks.deliveries USING btree (review, sequence) WHERE (status = 'pending'::text)
sequence webhooks.delivery_sequence
table webhooks.endpoints with (fillfactor=50)
  id bigint not null identity
  project uuid not null
  origin text not null
  failures integer not null default 0
  open_until timestamp with time zone
  due_at timestamp with time zone
  last_success_at timestamp with time zone
  last_failure_at timestamp with time zone
  last_error text
  constraint endpoints_pkey PRIMARY KEY (id)
  constraint endpoints_project_origin_key UNIQUE (project, origin)
  CREATE INDEX endpoints_due ON webhooks.endpoints USING btree (due_at) WHERE (due_at IS NOT NULL)
  CREATE UNIQUE INDEX endpoints_pkey ON webhooks.endpoints USING btree (id)
  CREATE UNIQUE INDEX endpoints_project_origin_key ON webhooks.endpoints USING btree (project, origin)
  CREATE TRIGGER keep_status_only BEFORE UPDATE OF last_error ON webhooks.endpoints FOR EACH ROW EXECUTE FUNCTION webhooks.keep_status_only()
sequence webhooks.endpoints_id_seq
CREATE OR REPLACE FUNCTION webhooks.advance_heads(reviews uuid[], at_time timestamp with time zone, expedite_waiting boolean, expedite_all boolean)
 RETURNS void
 LANGUAGE sql
 SET enable_seqscan TO 'off'
AS $function$
  update webhooks.deliveries d
  set next_attempt_at = least(d.next_attempt_at, at_time), expedited = d.expedited or expedite_all or (expedite_waiting and d.next_attempt_at is not null)
  from (select distinct on (review) id from webhooks.deliveries where review = any(reviews) and status = 'pending' order by review, sequence) head
  where d.id = head.id and (d.next_attempt_at is null or (expedite_waiting and d.lease is null))
$function$

CREATE OR REPLACE FUNCTION webhooks.attempts_allowed(failures integer, open_until timestamp with time zone, most integer)
 RETURNS integer
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$ select case when open_until is null then greatest(1, most >> least(failures, 30)) else 1 end $function$

CREATE OR REPLACE FUNCTION webhooks.circuit_pause(failures integer, threshold integer, backoff_ms bigint[], max_open_ms bigint)
 RETURNS interval
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select case when failures >= threshold then
    least(backoff_ms[least(failures - threshold + 1, array_length(backoff_ms, 1))], max_open_ms) * interval '1 millisecond' end
$function$

CREATE OR REPLACE FUNCTION webhooks.claim(capacity integer, most_endpoints integer, most integer, lease_ms bigint)
 RETURNS TABLE(id uuid, endpoint bigint, project uuid, review uuid, event_type text, url text, body text, request_id text, lease uuid, attempts integer, attempts_apart integer, age_ms bigint, traceparent text, tracestate text)
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
AS $function$
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
end $function$

CREATE OR REPLACE FUNCTION webhooks.enqueue(ids uuid[], projects uuid[], origins text[], reviews uuid[], event_types text[], urls text[], bodies text[], request_ids text[], most integer)
 RETURNS void
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
AS $function$
declare
  locked bigint[];
  queued uuid[];
  at_time timestamptz;
begin
  insert into webhooks.endpoints (project, origin)
  select distinct project, origin from unnest(projects, origins) as p (project, origin) order by project, origin
  on conflict do nothing;
  select array_agg(id) into locked from (
    select e.id from webhooks.endpoints e join (select distinct * from unnest(projects, origins) as p (project, origin)) p
      on e.project = p.project and e.origin = p.origin
    order by e.id for no key update of e
  ) in_order;
  at_time := webhooks.time_now();
  with put as (
    insert into webhooks.deliveries (id, endpoint, project, review, event_type, url, body, request_id, status, created_at)
    select d.id, e.id, d.project, d.review, d.event_type, d.url, d.body, d.request_id, 'pending', at_time
    from unnest(ids, projects, origins, reviews, event_types, urls, bodies, request_ids)
      with ordinality as d (id, project, origin, review, event_type, url, body, request_id, ord)
    join webhooks.endpoints e on e.project = d.project and e.origin = d.origin
    order by d.ord
    on conflict (id) do nothing returning review
  )
  select array_agg(distinct review) into queued from put;
  perform webhooks.advance_heads(queued, at_time, true, false);
  perform webhooks.set_due_times(locked, at_time, most);
  perform pg_notify('webhooks_due', '');
end $function$

CREATE OR REPLACE FUNCTION webhooks.erase(erased uuid[], most integer)
 RETURNS void
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
AS $function$
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
end $function$

CREATE OR REPLACE FUNCTION webhooks.keep_status_only()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  new.last_error := coalesce(substring(new.last_error from '^HTTP [0-9]+'), new.last_error);
  return new;
end $function$

CREATE OR REPLACE FUNCTION webhooks.set_due_times(which bigint[], at_time timestamp with time zone, most integer)
 RETURNS void
 LANGUAGE sql
 SET enable_seqscan TO 'off'
AS $function$
  update webhooks.endpoints e set due_at = case
    when e.open_until > at_time then least(
      greatest((select min(next_attempt_at) from webhooks.deliveries where endpoint = e.id and next_attempt_at is not null), e.open_until),
      (select min(next_attempt_at) from webhooks.deliveries where endpoint = e.id and expedited and next_attempt_at > f.floor))
    else (select min(next_attempt_at) from webhooks.deliveries where endpoint = e.id and next_attempt_at > f.floor)
  end
  from (
    select x.id, case when (
        select count(*) from webhooks.deliveries where endpoint = x.id and lease is not null and next_attempt_at > at_time
      ) >= webhooks.attempts_allowed(x.failures, x.open_until, most) then at_time else '-infinity' end as floor
    from webhooks.endpoints x where x.id = any(which)
  ) f
  where e.id = f.id
$function$

CREATE OR REPLACE FUNCTION webhooks.settle(results jsonb, backoff_ms bigint[], threshold integer, max_open_ms bigint, most integer)
 RETURNS SETOF uuid
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
AS $function$
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
end $function$

CREATE OR REPLACE FUNCTION webhooks.time_now()
 RETURNS timestamp with time zone
 LANGUAGE sql
AS $function$ select date_trunc('milliseconds', event_store.now()) $function$

grant execute on function webhooks.advance_heads(uuid[],timestamp with time zone,boolean,boolean) to public
grant execute on function webhooks.attempts_allowed(integer,timestamp with time zone,integer) to public
grant execute on function webhooks.circuit_pause(integer,integer,bigint[],bigint) to public
grant execute on function webhooks.claim(integer,integer,integer,bigint) to public
grant execute on function webhooks.enqueue(uuid[],uuid[],text[],uuid[],text[],text[],text[],text[],integer) to public
grant execute on function webhooks.erase(uuid[],integer) to public
grant execute on function webhooks.keep_status_only() to public
grant execute on function webhooks.set_due_times(bigint[],timestamp with time zone,integer) to public
grant execute on function webhooks.settle(jsonb,bigint[],integer,bigint,integer) to public
grant execute on function webhooks.time_now() to public
grant usage on schema webhooks to countersign_app
grant delete, insert, select, update on table webhooks.attempts to countersign_app
grant insert, select, update on table webhooks.deliveries to countersign_app
grant usage on table webhooks.delivery_sequence to countersign_app
grant insert, select, update on table webhooks.endpoints to countersign_app
