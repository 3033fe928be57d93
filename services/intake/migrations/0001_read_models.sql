-- Read models of intake: caches of the log, dropped and rebuilt at will.
create schema intake;
grant usage on schema intake to countersign_app;

create table intake.templates (
  template text primary key,
  project text not null,
  -- Version of the stream the state was folded to.
  version integer not null,
  state json not null,
  created_at timestamptz not null
);
create index templates_by_project on intake.templates (project, created_at, template);

create table intake.open_reviews (
  review text primary key,
  template text not null
);
create index open_reviews_by_template on intake.open_reviews (template);

grant select, insert, update, delete, truncate on intake.templates, intake.open_reviews to countersign_app;
