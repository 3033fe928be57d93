-- schema audit
table audit.days
  project text not null
  day date not null
  count bigint not null
  template text not null
  constraint days_pkey PRIMARY KEY (project, day, template)
  CREATE UNIQUE INDEX days_pkey ON audit.days USING btree (project, day, template)
table audit.failed_deliveries
  delivery text not null
  review text not null
  constraint failed_deliveries_pkey PRIMARY KEY (delivery)
  CREATE INDEX failed_deliveries_by_review ON audit.failed_deliveries USING btree (review)
  CREATE UNIQUE INDEX failed_deliveries_pkey ON audit.failed_deliveries USING btree (delivery)
table audit.log
  position bigint not null
  project text not null
  action text not null
  actor text not null
  resource_type text not null
  resource_id text not null
  time timestamp with time zone not null
  constraint log_pkey PRIMARY KEY ("position")
  CREATE INDEX log_by_action ON audit.log USING btree (project, action, "position" DESC)
  CREATE INDEX log_by_actor ON audit.log USING btree (project, actor, "position" DESC)
  CREATE INDEX log_by_project ON audit.log USING btree (project, "position" DESC)
  CREATE INDEX log_by_resource ON audit.log USING btree (resource_id, "position" DESC)
  CREATE UNIQUE INDEX log_pkey ON audit.log USING btree ("position")
table audit.reviews
  review text not null
  project text not null
  template text not null
  template_slug text not null
  status text not null
  priority text not null
  urgency smallint not null
  assignee text
  outcome text
  decided_by text
  created_at timestamp with time zone not null
  decided_at timestamp with time zone
  version integer not null
  state json not null
  settled_at timestamp with time zone default 
CASE
    WHEN (status = ANY (ARRAY['decided'::text, 'expired'::text, 'archived'::text])) THEN audit.settled_at(state)
    ELSE NULL::timestamp with time zone
END stored
  constraint reviews_pkey PRIMARY KEY (review)
  CREATE INDEX reviews_by_assignee ON audit.reviews USING btree (project, assignee, urgency DESC, created_at DESC, review DESC) WHERE (assignee IS NOT NULL)
  CREATE INDEX reviews_by_outcome ON audit.reviews USING btree (project, outcome, urgency DESC, created_at DESC, review DESC) WHERE (outcome IS NOT NULL)
  CREATE INDEX reviews_by_status ON audit.reviews USING btree (project, status, urgency DESC, created_at DESC, review DESC)
  CREATE INDEX reviews_by_template ON audit.reviews USING btree (project, template_slug, urgency DESC, created_at DESC, review DESC)
  CREATE INDEX reviews_decided ON audit.reviews USING btree (project, decided_at DESC, review DESC) WHERE (outcome IS NOT NULL)
  CREATE INDEX reviews_in_order ON audit.reviews USING btree (project, urgency DESC, created_at DESC, review DESC)
  CREATE INDEX reviews_pending ON audit.reviews USING btree (priority, created_at) WHERE (status = 'pending'::text)
  CREATE UNIQUE INDEX reviews_pkey ON audit.reviews USING btree (review)
  CREATE INDEX reviews_settled ON audit.reviews USING btree (project, settled_at DESC, review DESC) WHERE (settled_at IS NOT NULL)
  CREATE INDEX reviews_settled_by_status ON audit.reviews USING btree (project, status, settled_at DESC, review DESC) WHERE (settled_at IS NOT NULL)
table audit.tallies
  project text not null
  template text not null
  template_slug text not null
  status text not null
  priority text not null
  assignee text not null
  outcome text not null
  decided_by text not null
  count bigint not null
  decision_ms bigint not null
  constraint tallies_pkey PRIMARY KEY (project, template, template_slug, status, priority, assignee, outcome, decided_by)
  CREATE UNIQUE INDEX tallies_pkey ON audit.tallies USING btree (project, template, template_slug, status, priority, assignee, outcome, decided_by)
CREATE OR REPLACE FUNCTION audit.settled_at(state json)
 RETURNS timestamp with time zone
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN (COALESCE((state #>> '{outcome,decided_at}'::text[]), (state #>> '{outcome,expired_at}'::text[])))::timestamp with time zone

grant execute on function audit.settled_at(json) to public
grant usage on schema audit to countersign_app
grant delete, insert, select, truncate, update on table audit.days to countersign_app
grant delete, insert, select, truncate, update on table audit.failed_deliveries to countersign_app
grant delete, insert, select, truncate, update on table audit.log to countersign_app
grant delete, insert, select, truncate, update on table audit.reviews to countersign_app
grant delete, insert, select, truncate, update on table audit.tallies to countersign_app
