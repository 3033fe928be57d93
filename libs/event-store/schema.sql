-- schema event_store
table event_store.appenders with (fillfactor=50)
  appender uuid not null
  batch bigint not null
  time timestamp with time zone not null
  before bigint not null
  versions json not null
  buckets json not null
  answers json not null
  at timestamp with time zone not null default clock_timestamp()
  constraint appenders_pkey PRIMARY KEY (appender)
  CREATE UNIQUE INDEX appenders_pkey ON event_store.appenders USING btree (appender)
table event_store.clock
  only_row boolean not null default true
  ahead interval not null default '00:00:00'::interval
  constraint clock_only_row_check CHECK (only_row)
  constraint clock_pkey PRIMARY KEY (only_row)
  CREATE UNIQUE INDEX clock_pkey ON event_store.clock USING btree (only_row)
table event_store.events
  position bigint not null
  shard integer not null
  stream uuid not null
  version integer not null
  bucket smallint not null
  schema_version integer not null
  id uuid not null
  project uuid not null
  time timestamp with time zone not null
  category text not null
  type text not null
  body text
  meta text
  body_salt bytea
  meta_salt bytea
  body_commitment bytea not null
  meta_commitment bytea not null
  hash bytea not null
  constraint events_pkey PRIMARY KEY (shard, "position")
  constraint events_stream_version_key UNIQUE (stream, version)
  CREATE UNIQUE INDEX events_pkey ON event_store.events USING btree (shard, "position")
  CREATE UNIQUE INDEX events_stream_version_key ON event_store.events USING btree (stream, version)
  CREATE TRIGGER events_are_final BEFORE DELETE OR UPDATE ON event_store.events FOR EACH ROW EXECUTE FUNCTION event_store.refuse_change()
  CREATE TRIGGER events_are_not_truncated BEFORE TRUNCATE ON event_store.events FOR EACH STATEMENT EXECUTE FUNCTION event_store.refuse_change()
table event_store.head with (fillfactor=10)
  shard integer not null
  position bigint not null
  time timestamp with time zone not null
  constraint head_pkey PRIMARY KEY (shard)
  CREATE UNIQUE INDEX head_pkey ON event_store.head USING btree (shard)
table event_store.idempotency
  scope text not null
  key text not null
  input_hash text not null
  stream uuid not null
  category text not null
  version integer not null
  position bigint not null
  time timestamp with time zone not null
  constraint idempotency_pkey PRIMARY KEY (scope, key)
  CREATE UNIQUE INDEX idempotency_pkey ON event_store.idempotency USING btree (scope, key)
table event_store.reservations
  key text not null
  stream uuid not null
  category text not null
  constraint reservations_pkey PRIMARY KEY (key)
  CREATE UNIQUE INDEX reservations_pkey ON event_store.reservations USING btree (key)
table event_store.streams with (fillfactor=70)
  stream uuid not null
  category text not null
  project uuid not null
  shard integer not null
  bucket smallint not null
  version integer not null
  hash bytea not null
  first_position bigint not null
  last_position bigint not null
  constraint streams_pkey PRIMARY KEY (stream)
  CREATE UNIQUE INDEX streams_pkey ON event_store.streams USING btree (stream)
table event_store.timers
  stream uuid not null
  category text not null
  kind text not null
  project uuid not null
  due_at timestamp with time zone not null
  generation bigint not null
  attempts integer not null default 0
  claimed_until timestamp with time zone
  parked_at timestamp with time zone
  parked_reason text
  constraint timers_pkey PRIMARY KEY (stream, kind)
  CREATE INDEX timers_due ON event_store.timers USING btree (due_at) WHERE (parked_at IS NULL)
  CREATE UNIQUE INDEX timers_pkey ON event_store.timers USING btree (stream, kind)
table event_store.writers
  db_role text not null
  writer text not null
  category text not null
  constraint writers_pkey PRIMARY KEY (db_role, writer, category)
  CREATE UNIQUE INDEX writers_pkey ON event_store.writers USING btree (db_role, writer, category)
CREATE OR REPLACE FUNCTION event_store.append(p_writer text, p_appender uuid, p_batch bigint, p_categories text[], p_rounds integer, p_bounded boolean, r_first integer[], r_last integer[], r_not_after bigint[], r_not_before bigint[], s_request integer[], s_stream uuid[], s_category integer[], s_project uuid[], s_expected integer[], s_count integer[], s_end integer[], e_part integer[], e_rank integer[], e_id uuid[], e_type text[], e_schema_version integer[], e_body text[], e_meta text[], i_request integer[], i_scope text[], i_key text[], i_input_hash text[], k_request integer[], k_key text[], k_stream uuid[], k_category integer[], k_action integer[], t_request integer[], t_stream uuid[], t_category integer[], t_project uuid[], t_kind text[], t_action integer[], t_value bigint[], OUT "time" timestamp with time zone, OUT before bigint, OUT versions json, OUT buckets json, OUT answers json)
 RETURNS record
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET plan_cache_mode TO 'force_generic_plan'
 SET jit TO 'off'
AS $function$
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
end $function$

CREATE OR REPLACE FUNCTION event_store.bucket_of(stream uuid)
 RETURNS smallint
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$ select (('x' || encode(substr(sha256(uuid_send(stream)), 1, 4), 'hex'))::bit(32)::bigint % 12)::smallint $function$

CREATE OR REPLACE FUNCTION event_store.event_hash(project uuid, shard integer, "position" bigint, stream uuid, version integer, id uuid, type text, schema_version integer, time_us bigint, body_commitment bytea, meta_commitment bytea, previous bytea)
 RETURNS bytea
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$
  select sha256(
    '\x00000013636f756e7465727369676e2e6576656e742e31'::bytea
    || uuid_send(project) || int4send(shard) || int8send("position") || uuid_send(stream) || int4send(version) || uuid_send(id)
    || int4send(octet_length(type)) || convert_to(type, 'UTF8') || int4send(schema_version) || int8send(time_us)
    || body_commitment || meta_commitment || previous)
$function$

CREATE OR REPLACE FUNCTION event_store.now()
 RETURNS timestamp with time zone
 LANGUAGE sql
AS $function$ select clock_timestamp() + ahead from event_store.clock $function$

CREATE OR REPLACE FUNCTION event_store.redact_stream(p_stream uuid, p_reason text, p_metadata boolean DEFAULT false)
 RETURNS integer
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  v_stream event_store.streams;
  v_head event_store.head;
  v_time timestamptz;
  v_taken integer;
  v_body text;
  v_meta text;
  v_body_salt bytea := uuid_send(gen_random_uuid());
  v_meta_salt bytea := uuid_send(gen_random_uuid());
  v_id uuid;
  v_body_commitment bytea;
  v_meta_commitment bytea;
  v_hash bytea;
begin
  if p_reason is null or p_metadata is null then
    raise exception 'A redaction states its reason.' using errcode = 'null_value_not_allowed';
  end if;
  select * into v_stream from event_store.streams where stream = p_stream for no key update;
  if not found then
    raise exception 'There is no stream %.', p_stream using errcode = 'no_data_found';
  end if;
  -- A hash of what was asked confirms a guess at it. Emptied it is no input's, so the key stays taken and nothing asks twice. Under the stream's
  -- lock, which every append of such a row holds, and before the head's, for there is no index to find them by.
  update event_store.idempotency set input_hash = '' where stream = p_stream and input_hash <> '';
  select * into strict v_head from event_store.head where shard = v_stream.shard for no key update;

  perform set_config('event_store.redacting', p_stream::text, true);
  update event_store.events
  set body = null, body_salt = null,
      meta = case when p_metadata then null else meta end, meta_salt = case when p_metadata then null else meta_salt end
  where stream = p_stream and type <> 'stream.redacted' and (body is not null or p_metadata and meta is not null);
  get diagnostics v_taken = row_count;
  perform set_config('event_store.redacting', '', true);
  if v_taken = 0 then
    return 0;
  end if;

  -- Canonical JSON by hand: members in order, no spaces; to_json writes a text as RFC 8785 does.
  v_body := format('{"metadata":%s,"reason":%s,"through_version":%s}', to_json(p_metadata), to_json(p_reason), v_stream.version);
  v_meta := format('{"actor":{"id":%s,"kind":"system"}}', to_json(session_user::text));
  v_time := greatest(date_trunc('milliseconds', event_store.now()), v_head.time);
  v_body_commitment := sha256(v_body_salt || convert_to(v_body, 'UTF8'));
  v_meta_commitment := sha256(v_meta_salt || convert_to(v_meta, 'UTF8'));
  -- A UUIDv7 of the moment: 48 bits of milliseconds, the version, the rest of a random one.
  v_id := (lpad(to_hex((extract(epoch from v_time) * 1000)::bigint), 12, '0') || '7' || substr(replace(gen_random_uuid()::text, '-', ''), 14))::uuid;
  v_hash := event_store.event_hash(v_stream.project, v_stream.shard, v_head.position + 1, p_stream, v_stream.version + 1, v_id, 'stream.redacted', 1,
    (extract(epoch from v_time) * 1000000)::bigint, v_body_commitment, v_meta_commitment, v_stream.hash);
  insert into event_store.events (position, shard, stream, version, bucket, schema_version, id, project, time, category, type,
    body, meta, body_salt, meta_salt, body_commitment, meta_commitment, hash)
  values (v_head.position + 1, v_stream.shard, p_stream, v_stream.version + 1, v_stream.bucket, 1, v_id, v_stream.project, v_time, v_stream.category,
    'stream.redacted', v_body, v_meta, v_body_salt, v_meta_salt, v_body_commitment, v_meta_commitment, v_hash);
  update event_store.streams set version = version + 1, hash = v_hash, last_position = v_head.position + 1 where stream = p_stream;
  update event_store.head set position = position + 1, time = v_time where shard = v_stream.shard;
  perform pg_notify('event_store', '');
  return v_taken;
end $function$

CREATE OR REPLACE FUNCTION event_store.refuse_change()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  if tg_op = 'UPDATE' and current_setting('event_store.redacting', true) = old.stream::text
    and new.body is null and new.body_salt is null
    and ((new.meta is null and new.meta_salt is null) or (new.meta, new.meta_salt) is not distinct from (old.meta, old.meta_salt))
  then
    -- Redaction takes away; it changes nothing that stays.
    old.body := new.body;
    old.body_salt := new.body_salt;
    old.meta := new.meta;
    old.meta_salt := new.meta_salt;
    if old is not distinct from new then
      return new;
    end if;
  end if;
  raise exception 'Events are never changed or removed (%). Erasure goes through event_store.redact_stream.', tg_op
    using errcode = 'insufficient_privilege';
end $function$

grant update on column event_store.timers.attempts to countersign_app
grant update on column event_store.timers.claimed_until to countersign_app
grant update on column event_store.timers.parked_at to countersign_app
grant update on column event_store.timers.parked_reason to countersign_app
grant execute on function event_store.append(text,uuid,bigint,text[],integer,boolean,integer[],integer[],bigint[],bigint[],integer[],uuid[],integer[],uuid[],integer[],integer[],integer[],integer[],integer[],uuid[],text[],integer[],text[],text[],integer[],text[],text[],text[],integer[],text[],uuid[],integer[],integer[],integer[],uuid[],integer[],uuid[],text[],integer[],bigint[]) to countersign_app
grant execute on function event_store.bucket_of(uuid) to public
grant execute on function event_store.event_hash(uuid,integer,bigint,uuid,integer,uuid,text,integer,bigint,bytea,bytea,bytea) to public
grant execute on function event_store.now() to countersign_app
grant execute on function event_store.now() to public
grant execute on function event_store.refuse_change() to public
grant usage on schema event_store to countersign_app
grant select on table event_store.clock to countersign_app
grant select on table event_store.events to countersign_app
grant select on table event_store.head to countersign_app
grant select on table event_store.idempotency to countersign_app
grant select on table event_store.reservations to countersign_app
grant select on table event_store.streams to countersign_app
grant delete, select on table event_store.timers to countersign_app
grant select on table event_store.writers to countersign_app
