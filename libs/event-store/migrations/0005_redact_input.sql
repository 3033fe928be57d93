-- Erasure takes the hash of the input away too that idempotency keys of the stream were first used with; the rest is as before.
create or replace function event_store.redact_stream(p_stream uuid, p_reason text, p_metadata boolean default false) returns integer
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
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
end $$;

-- What was erased before this.
update event_store.idempotency set input_hash = ''
where input_hash <> '' and stream in (select stream from event_store.events where type = 'stream.redacted');
