-- The append with less work for each batch and each event; what it promises and answers is as before, word for word below. Changed: one check whether
-- any idempotency key is known in place of a loop over none, streams written by one statement, salts from one secret of the batch.
--
-- Appends a batch of requests, each all or nothing over one or several streams, and answers each. One call is one transaction.
--
-- Arrays beginning r_ have an element a request, s_ a stream of a request ("part", in request order), e_ an event (in part order),
-- i_ an idempotency key or command id, k_ a reservation, t_ a timer. Indexes count from 1. Times are microseconds since 1970.
--   r_first, r_last  first and last part;  r_not_after, r_not_before  bounds, the extremes of bigint when there is none
--   s_expected       version the writer decided on, -1 for any;  s_count  events of the part, 0 for a version check alone
--   s_end            events of the batch up to the part's last;  e_rank  1.. within the part
--   k_action         1 reserve for the stream, 0 release if the stream holds it
--   t_action         0 cancel, 1 due t_value after the events' time, 2 due at t_value
-- Requests of one batch touch no stream and no key twice; the caller sees to it, unique indexes refuse it.
--
-- A1 Locks are taken in one order: reservations sorted, streams sorted, the head last. Everything judged is read under the head's lock.
-- A2 Positions follow the head without gaps; an aborted batch leaves none, since the head goes back with it.
-- A3 The time of events never runs behind an earlier position's.
-- A4 A process numbers its batches (p_appender, p_batch), one in flight at a time. A batch sent again because its outcome was unknown is
--    answered as the first time; one that arrives after its successor is refused. So no retry loses or doubles an event.
-- A5 Plans must not depend on how full the tables were when a session made them: every access to a table is by its index.
create or replace function event_store.append(
  p_writer text, p_appender uuid, p_batch bigint, p_categories text[], p_rounds integer, p_bounded boolean,
  r_first integer[], r_last integer[], r_not_after bigint[], r_not_before bigint[],
  s_request integer[], s_stream uuid[], s_category integer[], s_project uuid[], s_expected integer[], s_count integer[], s_end integer[],
  e_part integer[], e_rank integer[], e_id uuid[], e_type text[], e_schema_version integer[], e_body text[], e_meta text[],
  i_request integer[], i_scope text[], i_key text[], i_input_hash text[],
  k_request integer[], k_key text[], k_stream uuid[], k_category integer[], k_action integer[],
  t_request integer[], t_stream uuid[], t_category integer[], t_project uuid[], t_kind text[], t_action integer[], t_value bigint[],
  out "time" timestamptz, -- of the events appended
  out "before" bigint,    -- position of the head before them; accepted requests follow in order
  out versions json,      -- of each part, before
  out buckets json,       -- of each part
  out answers json        -- requests that were not appended, by number
)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set plan_cache_mode = force_generic_plan set jit = off
as $$
#variable_conflict use_column
declare
  v_open boolean[] := array_fill(true, array[cardinality(r_first)]); -- by request: not refused
  v_before bigint;
  v_time timestamptz;
  v_time_us bigint;
  v_end integer[] := s_end;
  v_versions integer[];
  v_buckets smallint[];
  v_hashes bytea; -- 32 bytes for each part
  v_fits boolean;
  v_conflict boolean;
  v_allowed boolean;
  v_done bigint;
  -- An event's salts are a hash of it and the event's id: two draws of randomness for each event cost more than its hashes. It is kept nowhere.
  v_secret bytea := uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid());
  v_answers json[] := '{}';
  rec record;
begin
  if cardinality(k_key) > 0 then
    perform from event_store.reservations where key = any (k_key) order by key for update;
  end if;
  perform from event_store.streams where stream = any (s_stream) order by stream for no key update;
  select position, time into strict v_before, v_time from event_store.head where shard = 0 for no key update;

  select greatest(date_trunc('milliseconds', event_store.now()), v_time),
         (select a.batch from event_store.appenders a where a.appender = p_appender),
         p_categories <@ array(select w.category from event_store.writers w where w.db_role in ('*', session_user) and w.writer = p_writer),
         array_agg(coalesce(s.version, 0) order by p.i),
         string_agg(coalesce(s.hash, '\x0000000000000000000000000000000000000000000000000000000000000000'), '' order by p.i),
         array_agg(coalesce(s.bucket, event_store.bucket_of(p.stream)) order by p.i),
         bool_and(s.stream is null or (s.category = p_categories[p.category] and s.project = p.project)),
         bool_or(p.expected not in (-1, coalesce(s.version, 0)))
    into v_time, v_done, v_allowed, v_versions, v_hashes, v_buckets, v_fits, v_conflict
    from unnest(s_stream, s_category, s_project, s_expected) with ordinality p (stream, category, project, expected, i)
    left join event_store.streams s on s.stream = p.stream;
  v_time_us := (extract(epoch from v_time) * 1000000)::bigint;

  if v_done > p_batch then
    raise exception 'Batch % of this process was given up and has a successor.', p_batch using errcode = 'statement_completion_unknown';
  elsif v_done = p_batch then
    select a."time", a."before", a.versions, a.buckets, a.answers into "time", "before", versions, buckets, answers
    from event_store.appenders a where a.appender = p_appender;
    return;
  end if;
  if not v_allowed then
    raise exception 'Writer "%" (login %) may not append to one of the categories %.', p_writer, session_user, p_categories
      using errcode = 'insufficient_privilege';
  end if;
  if not v_fits then
    raise exception 'A stream of the batch exists with another category or project.' using errcode = 'integrity_constraint_violation';
  end if;

  if exists (
    select from (select unnest(i_scope) as scope, unnest(i_key) as key) i
    join event_store.idempotency d on d.scope = i.scope and d.key = i.key
  ) then
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

  if v_conflict then
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
  end if;

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

  if p_bounded then
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
  end if;

  if cardinality(v_answers) > 0 then
    -- Those that stay move up.
    select array_agg(o.reached order by o.i) into v_end from (
      select p.i, (sum(case when v_open[p.request] then p.count else 0 end) over (order by p.i))::integer as reached
      from unnest(s_request, s_count) with ordinality p (request, count, i)
    ) o;
  end if;

  if v_end[cardinality(v_end)] > 0 then
    -- One round for each rank: an event's hash needs the one before it in its stream.
    for v_rank in 1 .. p_rounds loop
      with stored as (
        insert into event_store.events (position, shard, stream, version, bucket, schema_version, id, project, time, category, type,
          body, meta, body_salt, meta_salt, body_commitment, meta_commitment, hash)
        select c.position, 0, c.stream, c.version, c.bucket, c.schema_version, c.id, c.project, v_time, c.category, c.type,
          c.body, c.meta, c.body_salt, c.meta_salt, c.body_commitment, c.meta_commitment,
          event_store.event_hash(c.project, 0, c.position, c.stream, c.version, c.id, c.type, c.schema_version, v_time_us,
            c.body_commitment, c.meta_commitment,
            case v_rank when 1 then substr(v_hashes, (c.part - 1) * 32 + 1, 32) else (select s.hash from event_store.streams s where s.stream = c.stream) end)
        from (
          select b.*, substr(b.salts, 1, 16) as body_salt, substr(b.salts, 17) as meta_salt,
                 sha256(substr(b.salts, 1, 16) || convert_to(b.body, 'UTF8')) as body_commitment,
                 sha256(substr(b.salts, 17) || convert_to(b.meta, 'UTF8')) as meta_commitment
          from (
            select e.part, v_before + v_end[e.part] - s_count[e.part] + v_rank as position, s_stream[e.part] as stream,
                   v_versions[e.part] + v_rank as version, v_buckets[e.part] as bucket, e.schema_version, e.id, s_project[e.part] as project,
                   p_categories[s_category[e.part]] as category, e.type, e.body, e.meta,
                   sha256(v_secret || uuid_send(e.id)) as salts
            from (
              select unnest(e_part) as part, unnest(e_rank) as rank, unnest(e_id) as id, unnest(e_type) as type,
                     unnest(e_schema_version) as schema_version, unnest(e_body) as body, unnest(e_meta) as meta
            ) e
            where e.rank = v_rank and v_open[s_request[e.part]]
            offset 0
          ) b offset 0
        ) c
        returning stream, category, project, bucket, version, hash, position
      )
      insert into event_store.streams as s (stream, category, project, shard, bucket, version, hash, first_position, last_position)
      select stream, category, project, 0, bucket, version, hash, position, position from stored
      on conflict (stream) do update set version = excluded.version, hash = excluded.hash, last_position = excluded.last_position;
    end loop;

    if cardinality(i_request) > 0 then
      insert into event_store.idempotency (scope, key, input_hash, stream, category, version, position, time)
      select i.scope, i.key, i.input_hash, s_stream[r_first[i.request]], p_categories[s_category[r_first[i.request]]],
             v_versions[r_first[i.request]] + s_count[r_first[i.request]], v_before + v_end[r_last[i.request]], v_time
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
             case x.action when 1 then v_time else 'epoch'::timestamptz end + x.value * interval '1 microsecond',
             v_before + v_end[r_last[x.request]]
      from unnest(t_request, t_stream, t_category, t_project, t_kind, t_action, t_value) x (request, stream, category, project, kind, action, value)
      where x.action > 0 and v_open[x.request]
      on conflict (stream, kind) do update
      set category = excluded.category, project = excluded.project, due_at = excluded.due_at, generation = excluded.generation,
          attempts = 0, claimed_until = null, parked_at = null, parked_reason = null;
    end if;

    update event_store.head set position = v_before + v_end[cardinality(v_end)], time = v_time where shard = 0;
    perform pg_notify('event_store', '');
  end if;

  "time" := v_time;
  "before" := v_before;
  versions := array_to_json(v_versions);
  buckets := array_to_json(v_buckets);
  answers := array_to_json(v_answers);
  if p_batch = 1 then
    delete from event_store.appenders where at < clock_timestamp() - interval '7 days';
  end if;
  insert into event_store.appenders as a (appender, batch, "time", "before", versions, buckets, answers)
  values (p_appender, p_batch, "time", "before", versions, buckets, answers)
  on conflict (appender) do update
  set batch = excluded.batch, "time" = excluded."time", "before" = excluded."before", versions = excluded.versions,
      buckets = excluded.buckets, answers = excluded.answers, at = excluded.at;
end $$;
