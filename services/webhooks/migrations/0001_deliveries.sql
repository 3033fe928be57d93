-- Deliveries and their attempts: ordinary tables, outside rebuild (K1). They hold the exact bytes sent; the log carries the outcomes.
create schema webhooks;
revoke all on schema webhooks from public;
grant usage on schema webhooks to countersign_app;

-- One row for each origin a project calls. Whoever changes a delivery that waits holds the row of its endpoint, so the order within a
-- review and the circuit have one lock, and two endpoints never wait for each other.
create table webhooks.endpoints (
  id bigint generated always as identity primary key,
  project uuid not null,
  origin text not null,
  -- Consecutive attempts that said the endpoint is in trouble; 0 once one went through.
  failures integer not null default 0,
  -- The circuit is open until then; null while it is closed.
  open_until timestamptz,
  -- Not worth a look before; null when nothing waits.
  due_at timestamptz,
  last_success_at timestamptz,
  last_failure_at timestamptz,
  last_error text,
  unique (project, origin)
) with (fillfactor = 50);
create index endpoints_due on webhooks.endpoints (due_at) where due_at is not null;

create sequence webhooks.delivery_sequence;

create table webhooks.deliveries (
  id uuid primary key,
  endpoint bigint not null references webhooks.endpoints,
  project uuid not null,
  -- Null for a test delivery.
  review uuid,
  event_type text not null,
  url text not null,
  -- The exact bytes, as text: written once, sent unchanged on every attempt. Null once they are no longer kept.
  body text,
  -- The request that caused it, forwarded in X-Request-Id.
  request_id text,
  -- Order of sending within a review. A replay takes a new number: it comes after what was queued before it.
  sequence bigint not null default nextval('webhooks.delivery_sequence'),
  status text not null check (status in ('pending', 'delivered', 'failed')),
  attempts integer not null default 0,
  -- Attempts that belong to an earlier round or were not the receiver's to answer: they do not move the delivery along its delays.
  attempts_apart integer not null default 0,
  -- Due then. While an attempt runs: when its lease ends. Null while it waits behind an earlier one of its review, and once settled.
  next_attempt_at timestamptz,
  -- The attempt that runs, or was running when its process died.
  lease uuid,
  -- Something made it urgent: tried even while the circuit is open.
  expedited boolean not null default false,
  last_attempt_at timestamptz,
  last_error text,
  -- Why it became a dead letter: attempts_exhausted, gone, endpoint_unavailable.
  dead_reason text check (dead_reason in ('attempts_exhausted', 'gone', 'endpoint_unavailable')),
  delivered_at timestamptz,
  replays integer not null default 0,
  -- The newest replay the log has told of, and when: whoever records one puts it in line; this finds those whose process did not come to it.
  replay_told integer not null default 0,
  replay_told_at timestamptz,
  -- Settled, and the log does not say so yet.
  unrecorded boolean not null default false,
  created_at timestamptz not null,
  settled_at timestamptz
);
create index deliveries_due on webhooks.deliveries (endpoint, next_attempt_at, sequence) where next_attempt_at is not null;
create index deliveries_expedited on webhooks.deliveries (endpoint, next_attempt_at) where expedited;
create index deliveries_running on webhooks.deliveries (endpoint) where lease is not null;
create index deliveries_waiting on webhooks.deliveries (review, sequence) where status = 'pending';
create index deliveries_unrecorded on webhooks.deliveries (settled_at) where unrecorded;
create index deliveries_replay_told on webhooks.deliveries (replay_told_at) where status = 'failed' and replay_told > replays;
create index deliveries_kept on webhooks.deliveries (settled_at) where status = 'delivered' and body is not null;
create index deliveries_newest on webhooks.deliveries (project, created_at desc, id desc);
create index deliveries_of_review on webhooks.deliveries (review, created_at desc, id desc);
create index deliveries_failed on webhooks.deliveries (project, created_at desc, id desc) where status = 'failed';

create table webhooks.attempts (
  delivery uuid not null references webhooks.deliveries,
  number integer not null,
  started_at timestamptz not null,
  -- How far it came and what that means; null while it runs.
  stage text check (stage in ('before', 'attempt', 'after')),
  outcome text check (outcome in ('delivered', 'failed')),
  status_code integer,
  latency_ms integer,
  error text,
  response_preview text,
  next_attempt_at timestamptz,
  primary key (delivery, number)
);

grant select, insert, update on webhooks.endpoints, webhooks.deliveries, webhooks.attempts to countersign_app;
grant usage on sequence webhooks.delivery_sequence to countersign_app;
grant delete on webhooks.attempts to countersign_app;
