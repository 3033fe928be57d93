-- Read model of decisions: a cache of the log, dropped and rebuilt at will.

-- Open reviews that a person was given or holds; ids of people. A review in nobody's hands has no row.
create table decisions.in_hand (
  review text primary key,
  project text not null,
  assignee text,
  holder text,
  check (assignee is not null or holder is not null)
);
create index in_hand_by_assignee on decisions.in_hand (project, assignee);
create index in_hand_by_holder on decisions.in_hand (project, holder);

-- Who has left a project and not come back.
create table decisions.departures (
  project text not null,
  person text not null,
  primary key (project, person)
);

grant select, insert, update, delete, truncate on decisions.in_hand, decisions.departures to countersign_app;
