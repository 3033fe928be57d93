-- schema gateway
table gateway.rate_limits with (fillfactor=50)
  key character varying(255) not null
  points integer not null default 0
  expire bigint
  constraint rate_limits_pkey PRIMARY KEY (key)
  CREATE INDEX rate_limits_by_expiry ON gateway.rate_limits USING btree (expire)
  CREATE UNIQUE INDEX rate_limits_pkey ON gateway.rate_limits USING btree (key)
table gateway.stream_tickets
  hash bytea not null
  key_id text
  session_id text
  expires_at timestamp with time zone not null
  constraint stream_tickets_check CHECK (((key_id IS NULL) <> (session_id IS NULL)))
  constraint stream_tickets_hash_check CHECK ((length(hash) = 32))
  constraint stream_tickets_pkey PRIMARY KEY (hash)
  CREATE INDEX stream_tickets_by_expiry ON gateway.stream_tickets USING btree (expires_at)
  CREATE UNIQUE INDEX stream_tickets_pkey ON gateway.stream_tickets USING btree (hash)
grant usage on schema gateway to countersign_app
grant delete, insert, select, update on table gateway.rate_limits to countersign_app
grant delete, insert, select, update on table gateway.stream_tickets to countersign_app
