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

-- The last batch of each appending process, with what it was answered: a batch sent twice is applied once (see append, A4).
create table event_store.appenders (
  appender uuid primary key,
  batch bigint not null,
  "time" timestamptz not null,
  "before" bigint not null,
  versions json not null,
  buckets json not null,
  answers json not null,
  at timestamptz not null default clock_timestamp()
) with (fillfactor = 50);

-- Which writer (a service, by the login role it connects with) appends to which category (K18). '*' is any login.
create table event_store.writers (
  db_role text not null,
  writer text not null,
  category text not null,
  primary key (db_role, writer, category)
);

create function event_store.refuse_change() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
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
end $$;

create trigger events_are_final before update or delete on event_store.events
  for each row execute function event_store.refuse_change();
create trigger events_are_not_truncated before truncate on event_store.events
  for each statement execute function event_store.refuse_change();

-- Bucket of a stream (K11): the first four bytes of the SHA-256 of its uuid as an unsigned integer, modulo 12.
-- This and the next function are written so that the planner inlines them: one expression, each argument that costs anything used once.
create function event_store.bucket_of(stream uuid) returns smallint
language sql immutable parallel safe
as $$ select (('x' || encode(substr(sha256(uuid_send(stream)), 1, 4), 'hex'))::bit(32)::bigint % 12)::smallint $$;

-- The event's hash (K3) over a fixed binary header: length-prefixed format and type, everything else of fixed size, big-endian.
-- Stable, not immutable, because convert_to is: declared otherwise it would not be inlined.
create function event_store.event_hash(
  project uuid, shard integer, "position" bigint, stream uuid, version integer, id uuid, type text, schema_version integer,
  time_us bigint, body_commitment bytea, meta_commitment bytea, previous bytea
) returns bytea
language sql stable parallel safe
as $$
  select sha256(
    '\x00000013636f756e7465727369676e2e6576656e742e31'::bytea
    || uuid_send(project) || int4send(shard) || int8send("position") || uuid_send(stream) || int4send(version) || uuid_send(id)
    || int4send(octet_length(type)) || convert_to(type, 'UTF8') || int4send(schema_version) || int8send(time_us)
    || body_commitment || meta_commitment || previous)
$$;

grant execute on function event_store.now to countersign_app;
grant select on event_store.head, event_store.streams, event_store.events, event_store.reservations, event_store.idempotency,
  event_store.timers, event_store.writers, event_store.clock to countersign_app;
-- Working the due rows (K7): taking one away once its append won, counting attempts, parking it.
grant delete, update (attempts, claimed_until, parked_at, parked_reason) on event_store.timers to countersign_app;
