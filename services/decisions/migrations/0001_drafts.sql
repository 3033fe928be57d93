-- Unsent edits of reviewers: no events (decision K1), one draft a review. Outside rebuild.
create schema decisions;
grant usage on schema decisions to countersign_app;

create table decisions.drafts (
  review text primary key,
  project text not null,
  person text not null,
  -- Name or e-mail of the person, as the inbox shows it.
  author text not null,
  payload json not null,
  saved_at timestamptz not null
);
grant select, insert, update, delete on decisions.drafts to countersign_app;
