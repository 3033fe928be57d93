-- What several gateways share: counted requests and one-time tickets. Counters and tickets are not events and not rebuilt (decision K1).
create schema gateway;
revoke all on schema gateway from public;
grant usage on schema gateway to countersign_app;

-- Written by rate-limiter-flexible in this shape: a fixed window for each key, `expire` in Unix milliseconds.
create table gateway.rate_limits (
  key varchar(255) primary key,
  points integer not null default 0,
  expire bigint
) with (fillfactor = 50);
create index rate_limits_by_expiry on gateway.rate_limits (expire);

-- A ticket stands in for a credential once, for a minute, where a caller cannot send a header. Only its hash is kept, and whom it stands for.
create table gateway.stream_tickets (
  hash bytea primary key check (length(hash) = 32),
  key_id text,
  session_id text,
  expires_at timestamptz not null,
  check ((key_id is null) <> (session_id is null))
);
create index stream_tickets_by_expiry on gateway.stream_tickets (expires_at);

grant select, insert, update, delete on gateway.rate_limits, gateway.stream_tickets to countersign_app;
