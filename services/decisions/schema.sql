-- schema decisions
table decisions.departures
  project text not null
  person text not null
  constraint departures_pkey PRIMARY KEY (project, person)
  CREATE UNIQUE INDEX departures_pkey ON decisions.departures USING btree (project, person)
table decisions.drafts
  review text not null
  project text not null
  person text not null
  author text not null
  payload json not null
  saved_at timestamp with time zone not null
  constraint drafts_pkey PRIMARY KEY (review)
  CREATE UNIQUE INDEX drafts_pkey ON decisions.drafts USING btree (review)
table decisions.in_hand
  review text not null
  project text not null
  assignee text
  holder text
  constraint in_hand_check CHECK (((assignee IS NOT NULL) OR (holder IS NOT NULL)))
  constraint in_hand_pkey PRIMARY KEY (review)
  CREATE INDEX in_hand_by_assignee ON decisions.in_hand USING btree (project, assignee)
  CREATE INDEX in_hand_by_holder ON decisions.in_hand USING btree (project, holder)
  CREATE UNIQUE INDEX in_hand_pkey ON decisions.in_hand USING btree (review)
grant usage on schema decisions to countersign_app
grant delete, insert, select, truncate, update on table decisions.departures to countersign_app
grant delete, insert, select, update on table decisions.drafts to countersign_app
grant delete, insert, select, truncate, update on table decisions.in_hand to countersign_app
