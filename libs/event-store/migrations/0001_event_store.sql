-- The event store (architecture §4, decisions K1-K9, K18, K21). It knows streams, events, reservations and timers, and no business word.
create schema event_store;
revoke all on schema event_store from public;
grant usage on schema event_store to countersign_app;

-- Time is the database's (K8). The offset is the schema owner's to set: that is how a test makes a day pass.
create table event_store.clock (
  only_row boolean primary key default true check (only_row),
  ahead interval not null default interval '0'
);
insert into event_store.clock default values;

create function event_store.now() returns timestamptz
language sql volatile
as $$ select clock_timestamp() + ahead from event_store.clock $$;

-- One row a shard: the last position and its time. It is the lock every append takes last, so commit order is position order.
create table event_store.head (
  shard integer primary key,
  position bigint not null,
  time timestamptz not null
) with (fillfactor = 10);
insert into event_store.head values (0, 0, '-infinity');

create table event_store.streams (
  stream uuid primary key,
  category text not null,
  project uuid not null,
  shard integer not null,
  bucket smallint not null,
  version integer not null,
  hash bytea not null,
  first_position bigint not null,
  last_position bigint not null
) with (fillfactor = 70);

create table event_store.events (
  position bigint not null,
  shard integer not null,
  stream uuid not null,
  version integer not null,
  bucket smallint not null,
  schema_version integer not null,
  id uuid not null,
  project uuid not null,
  time timestamptz not null,
  category text not null,
  type text not null,
  -- Canonical JSON (RFC 8785), byte for byte what was hashed. Body and its salt are null once redacted (K4).
  body text,
  meta text,
  body_salt bytea,
  meta_salt bytea,
  body_commitment bytea not null,
  meta_commitment bytea not null,
  hash bytea not null,
  primary key (shard, position),
  unique (stream, version)
);

-- Keys that are unique over all streams (K5).
create table event_store.reservations (
  key text primary key,
  stream uuid not null,
  category text not null
);

-- Idempotency keys of callers, and the ids of commands sent by software (scope ':command'): what they first led to.
create table event_store.idempotency (
  scope text not null,
  key text not null,
  input_hash text not null,
  stream uuid not null,
  category text not null,
  version integer not null,
  position bigint not null,
  time timestamptz not null,
  primary key (scope, key)
);

-- Due rows, scheduled and cancelled by the append that causes them (K7). `generation` is the position of the cause.
create table event_store.timers (
  stream uuid not null,
  category text not null,
  kind text not null,
  project uuid not null,
  due_at timestamptz not null,
  generation bigint not null,
  attempts integer not null default 0,
  -- Taken by a process, or put off after a failure, until then. On the wall clock: it measures whether that process is alive.
  claimed_until timestamptz,
  parked_at timestamptz,
  parked_reason text,
  primary key (stream, kind)
);
create index timers_due on event_store.timers (due_at) where parked_at is null;

-- Which writer (a service, by the login role it connects with) appends to which category (K18). '*' is any login.
create table event_store.writers (
  db_role text not null,
  writer text not null,
  category text not null,
  primary key (db_role, writer, category)
);

create function event_store.refuse_change() returns trigger
language plpgsql
as $$
begin
  if tg_op = 'UPDATE' and current_setting('event_store.redacting', true) = old.stream::text then
    return new;
  end if;
  raise exception 'Events are never changed or removed (%). Erasure goes through event_store.redact_stream.', tg_op
    using errcode = 'insufficient_privilege';
end $$;

create trigger events_are_final before update or delete on event_store.events
  for each row execute function event_store.refuse_change();
create trigger events_are_not_truncated before truncate on event_store.events
  for each statement execute function event_store.refuse_change();

-- Bucket of a stream (K11): the first four bytes of the SHA-256 of its uuid, modulo 12.
create function event_store.bucket_of(stream uuid) returns smallint
language sql immutable strict parallel safe
as $$
  select (((get_byte(h, 0)::bigint << 24) + (get_byte(h, 1) << 16) + (get_byte(h, 2) << 8) + get_byte(h, 3)) % 12)::smallint
  from sha256(uuid_send(stream)) h
$$;

-- The event's hash (K3) over a fixed binary header: length-prefixed format and type, everything else of fixed size, big-endian.
create function event_store.event_hash(
  project uuid, shard integer, "position" bigint, stream uuid, version integer, id uuid, type text, schema_version integer,
  time_us bigint, body_commitment bytea, meta_commitment bytea, previous bytea
) returns bytea
language sql immutable parallel safe
as $$
  select sha256(
    '\x00000013636f756e7465727369676e2e6576656e742e31'::bytea
    || uuid_send(project) || int4send(shard) || int8send("position") || uuid_send(stream) || int4send(version) || uuid_send(id)
    || int4send(octet_length(type)) || convert_to(type, 'UTF8') || int4send(schema_version) || int8send(time_us)
    || body_commitment || meta_commitment || previous)
$$;

-- Appends a batch of requests, each all or nothing over one or several streams, and answers each. One call is one transaction.
--
-- Arrays beginning r_ have an element a request, s_ a stream of a request ("part", in request order), e_ an event (in part order),
-- i_ an idempotency key or command id, k_ a reservation, t_ a timer. Indexes count from 1. Times are microseconds since 1970.
--   r_first, r_last  first and last part;  r_not_after, r_not_before  bounds, the extremes of bigint when there is none
--   s_expected       version the writer decided on, -1 for any;  s_count  events of the part, 0 for a version check alone
--   e_rank           1.. within the part
--   k_action         1 reserve for the stream, 0 release if the stream holds it
--   t_action         0 cancel, 1 due t_value after the events' time, 2 due at t_value
-- Requests of one batch touch no stream and no key twice; the caller sees to it, the constraints below refuse it.
--
-- A1 Locks are taken in one order: reservations sorted, streams sorted, the head last. Everything judged is read under the head's lock.
-- A2 Positions follow the head without gaps; an aborted batch leaves none, since the head goes back with it.
-- A3 The time of events never runs behind an earlier position's.
-- A4 p_retry: the batch may have been committed before. A request whose event ids are there is answered as the first time.
create function event_store.append(
  p_writer text, p_retry boolean, p_categories text[],
  r_first integer[], r_last integer[], r_not_after bigint[], r_not_before bigint[],
  s_request integer[], s_stream uuid[], s_category integer[], s_project uuid[], s_expected integer[], s_count integer[],
  e_part integer[], e_rank integer[], e_id uuid[], e_type text[], e_schema_version integer[], e_body text[], e_meta text[],
  i_request integer[], i_scope text[], i_key text[], i_input_hash text[],
  k_request integer[], k_key text[], k_stream uuid[], k_category integer[], k_action integer[],
  t_request integer[], t_stream uuid[], t_category integer[], t_project uuid[], t_kind text[], t_action integer[], t_value bigint[]
) returns table (
  "time" timestamptz, -- of the events appended
  "before" bigint,    -- position of the head before them; accepted requests follow in order
  versions json,      -- of each part, after
  buckets json,       -- of each part
  answers json        -- requests that were not appended now, by number
)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set plan_cache_mode = force_generic_plan set jit = off
as $$
#variable_conflict use_column
declare
  v_open boolean[] := array_fill(true, array[cardinality(r_first)]);
  v_before bigint;
  v_time timestamptz;
  v_time_us bigint;
  v_versions integer[];
  v_after integer[];
  v_buckets smallint[];
  v_hashes bytea;
  v_last bigint[];
  v_fits boolean;
  v_answers json[] := '{}';
  v_touched integer;
  v_changed integer;
  v_total bigint;
  rec record;
begin
  if exists (
    select from unnest(p_categories) c (category)
    where not exists (
      select from event_store.writers w
      where w.db_role in ('*', session_user) and w.writer = p_writer and w.category = c.category)
  ) then
    raise exception 'Writer "%" (login %) may not append to one of the categories %.', p_writer, session_user, p_categories
      using errcode = 'insufficient_privilege';
  end if;

  if cardinality(k_key) > 0 then
    perform from event_store.reservations where key = any (k_key) order by key for update;
  end if;
  perform from event_store.streams where stream = any (s_stream) order by stream for no key update;
  select position, time into strict v_before, v_time from event_store.head where shard = 0 for no key update;
  v_time := greatest(date_trunc('milliseconds', event_store.now()), v_time);
  v_time_us := (extract(epoch from v_time) * 1000000)::bigint;

  select array_agg(coalesce(s.version, 0) order by p.i), string_agg(coalesce(s.hash, '\x0000000000000000000000000000000000000000000000000000000000000000'), '' order by p.i),
         array_agg(coalesce(s.bucket, event_store.bucket_of(p.stream)) order by p.i),
         bool_and(s.stream is null or (s.category = p_categories[p.category] and s.project = p.project))
    into v_versions, v_hashes, v_buckets, v_fits
    from unnest(s_stream, s_category, s_project) with ordinality p (stream, category, project, i)
    left join event_store.streams s on s.stream = p.stream;
  if not v_fits then
    raise exception 'A stream of the batch exists with another category or project.' using errcode = 'integrity_constraint_violation';
  end if;
  v_after := v_versions;

  if p_retry then
    for rec in
      select s_request[e.part] as request, min(x.position) as first_position, max(x.time) as "time"
      from unnest(e_part, e_id) e (part, id)
      join lateral (select position, time, version from event_store.events where stream = s_stream[e.part] and id = e.id) x on true
      group by 1
    loop
      v_open[rec.request] := false;
      v_answers := v_answers || json_build_object('request', rec.request, 'status', 'appended', 'first_position', rec.first_position, 'time', rec.time);
      for i in r_first[rec.request] .. r_last[rec.request] loop
        if s_count[i] > 0 then
          v_after[i] := (
            select max(x.version) from unnest(e_part, e_id) e (part, id), event_store.events x
            where e.part = i and x.stream = s_stream[i] and x.id = e.id);
        end if;
      end loop;
    end loop;
  end if;

  if cardinality(i_request) > 0 then
    for rec in
      select i.request, i.scope = ':command' or i.input_hash = d.input_hash as same, d.stream, d.category, d.version, d.position
      from unnest(i_request, i_scope, i_key, i_input_hash) with ordinality i (request, scope, key, input_hash, n)
      join event_store.idempotency d on d.scope = i.scope and d.key = i.key
      order by i.n
    loop
      continue when not v_open[rec.request];
      v_open[rec.request] := false;
      v_answers := v_answers || json_build_object(
        'request', rec.request, 'status', case when rec.same then 'repeated' else 'key_reused' end,
        'stream', rec.stream, 'category', rec.category, 'version', rec.version, 'position', rec.position);
    end loop;
  end if;

  for rec in
    select p.request, p.stream, p.category, p.version
    from unnest(s_request, s_stream, s_category, s_expected, v_versions) with ordinality p (request, stream, category, expected, version, i)
    where p.expected not in (-1, p.version)
    order by p.i
  loop
    continue when not v_open[rec.request];
    v_open[rec.request] := false;
    v_answers := v_answers || json_build_object(
      'request', rec.request, 'status', 'conflict', 'stream', rec.stream, 'category', p_categories[rec.category], 'version', rec.version);
  end loop;

  if cardinality(k_request) > 0 then
    for rec in
      select k.request, k.key, r.stream, r.category
      from unnest(k_request, k_key, k_stream, k_action) with ordinality k (request, key, stream, action, n)
      join event_store.reservations r on r.key = k.key
      where k.action = 1 and r.stream <> k.stream and not exists (
        select from unnest(k_request, k_key, k_stream, k_action) f (request, key, stream, action)
        where f.request = k.request and f.key = k.key and f.stream = r.stream and f.action = 0)
      order by k.n
    loop
      continue when not v_open[rec.request];
      v_open[rec.request] := false;
      v_answers := v_answers || json_build_object(
        'request', rec.request, 'status', 'reserved', 'key', rec.key, 'stream', rec.stream, 'category', rec.category);
    end loop;
  end if;

  for rec in
    select r.i as request, r.not_after <= v_time_us as late
    from unnest(r_not_after, r_not_before) with ordinality r (not_after, not_before, i)
    where r.not_after <= v_time_us or r.not_before > v_time_us
  loop
    continue when not v_open[rec.request];
    v_open[rec.request] := false;
    v_answers := v_answers || json_build_object(
      'request', rec.request, 'status', case when rec.late then 'too_late' else 'too_early' end, 'time', v_time);
  end loop;

  -- Position of each part's last event, and how much there is to do.
  select array_agg(v_before + o.reached order by o.i), coalesce(max(o.reached), 0), count(*) filter (where o.counted > 0)
    into v_last, v_total, v_touched
    from (
      select p.i, case when v_open[p.request] then p.count else 0 end as counted,
             sum(case when v_open[p.request] then p.count else 0 end) over (order by p.i) as reached
      from unnest(s_request, s_count) with ordinality p (request, count, i)
    ) o;

  if v_total > 0 then
    -- One round for each rank: an event's hash needs the one before it in its stream.
    for v_rank in 1 .. (select max(p.count) from unnest(s_request, s_count) p (request, count) where v_open[p.request]) loop
      with fresh as materialized (
        select c.*, event_store.event_hash(c.project, 0, c.position, c.stream, c.version, c.id, c.type, c.schema_version, v_time_us,
                 c.body_commitment, c.meta_commitment, substr(v_hashes, (c.part - 1) * 32 + 1, 32)) as hash
        from (
          select b.*, sha256(b.body_salt || convert_to(b.body, 'UTF8')) as body_commitment,
                 sha256(b.meta_salt || convert_to(b.meta, 'UTF8')) as meta_commitment
          from (
            select e.part, v_last[e.part] - s_count[e.part] + v_rank as position, s_stream[e.part] as stream,
                   v_versions[e.part] + v_rank as version, v_buckets[e.part] as bucket, e.schema_version, e.id, s_project[e.part] as project,
                   p_categories[s_category[e.part]] as category, e.type, e.body, e.meta,
                   uuid_send(gen_random_uuid()) as body_salt, uuid_send(gen_random_uuid()) as meta_salt
            from unnest(e_part, e_rank, e_id, e_type, e_schema_version, e_body, e_meta) e (part, rank, id, type, schema_version, body, meta)
            where e.rank = v_rank and v_open[s_request[e.part]]
          ) b offset 0
        ) c
      ), stored as (
        insert into event_store.events (position, shard, stream, version, bucket, schema_version, id, project, time, category, type,
          body, meta, body_salt, meta_salt, body_commitment, meta_commitment, hash)
        select position, 0, stream, version, bucket, schema_version, id, project, v_time, category, type,
          body, meta, body_salt, meta_salt, body_commitment, meta_commitment, hash
        from fresh
      )
      select string_agg(h.hash, '' order by h.part) into v_hashes
      from (
        select part, hash from fresh
        union all
        select p.i, substr(v_hashes, (p.i - 1)::integer * 32 + 1, 32)
        from unnest(s_request, s_count) with ordinality p (request, count, i)
        where not (v_open[p.request] and p.count >= v_rank)
      ) h;
    end loop;

    select array_agg(case when v_open[p.request] then p.before + p.count else p.after end order by p.i) into v_after
    from unnest(s_request, s_count, v_versions, v_after) with ordinality p (request, count, before, after, i);

    insert into event_store.streams (stream, category, project, shard, bucket, version, hash, first_position, last_position)
    select p.stream, p_categories[p.category], p.project, 0, p.bucket, p.count, substr(v_hashes, (p.i - 1)::integer * 32 + 1, 32), p.last - p.count + 1, p.last
    from unnest(s_request, s_stream, s_category, s_project, s_count, v_versions, v_buckets, v_last)
      with ordinality p (request, stream, category, project, count, version, bucket, last, i)
    where v_open[p.request] and p.count > 0 and p.version = 0;
    get diagnostics v_changed = row_count;
    if v_changed < v_touched then
      v_touched := v_touched - v_changed;
      update event_store.streams s
      set version = p.version + p.count, hash = substr(v_hashes, (p.i - 1)::integer * 32 + 1, 32), last_position = p.last
      from unnest(s_request, s_stream, s_count, v_versions, v_last) with ordinality p (request, stream, count, version, last, i)
      where s.stream = p.stream and v_open[p.request] and p.count > 0 and p.version > 0;
      get diagnostics v_changed = row_count;
      if v_changed <> v_touched then
        raise exception 'A stream appears twice in one batch.' using errcode = 'cardinality_violation';
      end if;
    end if;

    if cardinality(i_request) > 0 then
      insert into event_store.idempotency (scope, key, input_hash, stream, category, version, position, time)
      select i.scope, i.key, i.input_hash, s_stream[r_first[i.request]], p_categories[s_category[r_first[i.request]]],
             v_after[r_first[i.request]], v_last[r_last[i.request]], v_time
      from unnest(i_request, i_scope, i_key, i_input_hash) i (request, scope, key, input_hash)
      where v_open[i.request];
    end if;

    if cardinality(k_request) > 0 then
      delete from event_store.reservations r
      using unnest(k_request, k_key, k_stream, k_action) k (request, key, stream, action)
      where r.key = k.key and r.stream = k.stream and k.action = 0 and v_open[k.request];
      insert into event_store.reservations (key, stream, category)
      select k.key, k.stream, p_categories[k.category]
      from unnest(k_request, k_key, k_stream, k_category, k_action) k (request, key, stream, category, action)
      where k.action = 1 and v_open[k.request]
        and not exists (select from event_store.reservations r where r.key = k.key and r.stream = k.stream);
    end if;

    if cardinality(t_request) > 0 then
      delete from event_store.timers t
      using unnest(t_request, t_stream, t_kind, t_action) x (request, stream, kind, action)
      where t.stream = x.stream and t.kind = x.kind and x.action = 0 and v_open[x.request];
      insert into event_store.timers (stream, category, kind, project, due_at, generation)
      select x.stream, p_categories[x.category], x.kind, x.project,
             case x.action when 1 then v_time else 'epoch'::timestamptz end + x.value * interval '1 microsecond', v_last[r_last[x.request]]
      from unnest(t_request, t_stream, t_category, t_project, t_kind, t_action, t_value) x (request, stream, category, project, kind, action, value)
      where x.action > 0 and v_open[x.request]
      on conflict (stream, kind) do update
      set category = excluded.category, project = excluded.project, due_at = excluded.due_at, generation = excluded.generation,
          attempts = 0, claimed_until = null, parked_at = null, parked_reason = null;
    end if;

    update event_store.head set position = v_before + v_total, time = v_time where shard = 0;
    perform pg_notify('event_store', '');
  end if;

  return query select v_time, v_before, array_to_json(v_after), array_to_json(v_buckets), array_to_json(v_answers);
end $$;
revoke all on function event_store.append from public;
grant execute on function event_store.append to countersign_app;
grant execute on function event_store.now to countersign_app;

grant select on event_store.head, event_store.streams, event_store.events, event_store.reservations, event_store.idempotency,
  event_store.timers, event_store.writers, event_store.clock to countersign_app;
-- Working the due rows (K7): taking one away once its append won, counting attempts, parking it.
grant delete, update (attempts, claimed_until, parked_at, parked_reason) on event_store.timers to countersign_app;
