-- schema intake
table intake.open_reviews
  review text not null
  template text not null
  constraint open_reviews_pkey PRIMARY KEY (review)
  CREATE INDEX open_reviews_by_template ON intake.open_reviews USING btree (template)
  CREATE UNIQUE INDEX open_reviews_pkey ON intake.open_reviews USING btree (review)
table intake.templates
  template text not null
  project text not null
  version integer not null
  state json not null
  created_at timestamp with time zone not null
  constraint templates_pkey PRIMARY KEY (template)
  CREATE INDEX templates_by_project ON intake.templates USING btree (project, created_at, template)
  CREATE UNIQUE INDEX templates_pkey ON intake.templates USING btree (template)
grant usage on schema intake to countersign_app
grant delete, insert, select, truncate, update on table intake.open_reviews to countersign_app
grant delete, insert, select, truncate, update on table intake.templates to countersign_app
