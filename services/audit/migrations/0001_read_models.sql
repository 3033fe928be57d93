-- Read models of audit: caches of the log, dropped and rebuilt at will (`countersign rebuild audit`).
create schema audit;
grant usage on schema audit to countersign_app;

-- A row a review: what the lists filter and order by, and the folded state they show.
create table audit.reviews (
  review text primary key,
  project text not null,
  template text not null,
  template_slug text not null,
  status text not null,
  priority text not null,
  -- 3 critical … 0 low: the first key of the list's order.
  urgency smallint not null,
  assignee text,
  outcome text,
  -- person or system; null while nobody has decided.
  decided_by text,
  created_at timestamptz not null,
  decided_at timestamptz,
  -- Version of the stream the state was folded to: an event that comes twice changes nothing.
  version integer not null,
  state json not null
);
create index reviews_in_order on audit.reviews (project, urgency desc, created_at desc, review desc);
create index reviews_by_status on audit.reviews (project, status, urgency desc, created_at desc, review desc);
create index reviews_by_template on audit.reviews (project, template_slug, urgency desc, created_at desc, review desc);
create index reviews_by_assignee on audit.reviews (project, assignee, urgency desc, created_at desc, review desc) where assignee is not null;
create index reviews_by_outcome on audit.reviews (project, outcome, urgency desc, created_at desc, review desc) where outcome is not null;
create index reviews_decided on audit.reviews (project, decided_at desc, review desc) where outcome is not null;

-- How many reviews have each combination of what lists filter by: totals are exact and cost a few rows (decision 14).
create table audit.tallies (
  project text not null,
  template text not null,
  template_slug text not null,
  status text not null,
  priority text not null,
  -- '' where there is none, so that the key is one.
  assignee text not null,
  outcome text not null,
  decided_by text not null,
  count bigint not null,
  -- Milliseconds from request to decision, summed.
  decision_ms bigint not null,
  primary key (project, template, template_slug, status, priority, assignee, outcome, decided_by)
);

create table audit.days (
  project text not null,
  day date not null,
  count bigint not null,
  primary key (project, day)
);

-- Deliveries that ended as dead letters and were not replayed.
create table audit.failed_deliveries (
  delivery text primary key,
  review text not null
);
create index failed_deliveries_by_review on audit.failed_deliveries (review);

-- Who did what, by what readers filter by. The details stay in the event store, so that erasing them there erases them here.
create table audit.log (
  position bigint primary key,
  project text not null,
  action text not null,
  actor text not null,
  resource_type text not null,
  resource_id text not null,
  time timestamptz not null
);
create index log_by_project on audit.log (project, position desc);
create index log_by_action on audit.log (project, action, position desc);
create index log_by_resource on audit.log (resource_id, position desc);
create index log_by_actor on audit.log (project, actor, position desc);

grant select, insert, update, delete, truncate on all tables in schema audit to countersign_app;
