-- Who exists and who may (decisions K1, K2). Two kinds of tables:
--   look-ups     what the streams of projects, people and keys say, saved with the stream's version; rebuilt from the log at will;
--   credentials  what is not in the log (K1): hashes, sealed secrets, sessions, counters. They are backed up.
-- A look-up is never trusted blindly: every question also reads event_store.streams, and a row behind its stream is caught up first.
create schema directory;
revoke all on schema directory from public;
grant usage on schema directory to countersign_app;

-- Look-ups -----------------------------------------------------------------------------------------------------------------------

create table directory.projects (
  id uuid primary key,
  version integer not null,
  name text not null,
  slug text not null,
  description text,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index projects_by_name on directory.projects (name);

create table directory.memberships (
  person uuid not null,
  project uuid not null,
  role text not null check (role in ('admin', 'reviewer')),
  since timestamptz not null,
  primary key (person, project)
);
create index memberships_of_project on directory.memberships (project);

create table directory.persons (
  id uuid primary key,
  version integer not null,
  email text not null,
  name text not null,
  password_fingerprint text,
  password_is_temporary boolean not null,
  created_at timestamptz not null
);

create table directory.api_keys (
  id uuid primary key,
  version integer not null,
  project uuid not null,
  status text not null check (status in ('active', 'disabled')),
  fingerprint text not null,
  prefix text not null,
  name text not null,
  description text,
  scopes text[] not null,
  template_ids text[],
  owner uuid,
  contact uuid,
  default_reviewer uuid,
  rate_limit_per_hour integer,
  ip_allowlist text[],
  expires_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index api_keys_of_project on directory.api_keys (project);

-- A stream whose row went away (a deleted key, an erased person) keeps its version here, so that it counts as caught up.
create table directory.gone (
  stream uuid primary key,
  version integer not null
);

-- Credentials ---------------------------------------------------------------------------------------------------------------------
-- A row is written before the event that names its fingerprint, and is inert until that event is there.

-- Who is about to join what: written before the event, so that a person whose project row is behind is noticed. Gone once they have joined.
create table directory.joining (
  person uuid not null,
  project uuid not null,
  created_at timestamptz not null default event_store.now(),
  primary key (person, project)
);
create index joining_project on directory.joining (project);

create table directory.passwords (
  person uuid not null,
  fingerprint text not null,
  verifier text not null,
  created_at timestamptz not null default event_store.now(),
  primary key (person, fingerprint)
);

create table directory.key_credentials (
  hash bytea primary key,
  fingerprint text not null unique,
  key uuid not null,
  project uuid not null,
  created_at timestamptz not null default event_store.now()
);
create index key_credentials_of_project on directory.key_credentials (project);
create index key_credentials_of_key on directory.key_credentials (key);

create table directory.project_secrets (
  project uuid not null,
  fingerprint text not null,
  sealed bytea not null,
  created_at timestamptz not null default event_store.now(),
  primary key (project, fingerprint)
);

create table directory.invitations (
  id uuid primary key,
  project uuid not null,
  email text not null,
  email_key text not null,
  token_hash bytea not null unique,
  created_at timestamptz not null default event_store.now()
);
create index invitations_to on directory.invitations (project, email_key);

create table directory.key_uses (
  key uuid primary key,
  last_used_at timestamptz not null
);

create table directory.sessions (
  id uuid primary key,
  token_hash bytea not null unique,
  person uuid not null,
  -- The password the session was opened under: a session of an earlier password is over.
  password_fingerprint text,
  method text not null check (method in ('password', 'passkey', 'recovery_link')),
  -- Opened by a recovery link: may set a new password without the old one, for a while.
  recovery boolean not null,
  ip text,
  user_agent text,
  created_at timestamptz not null default event_store.now(),
  last_used_at timestamptz not null default event_store.now(),
  expires_at timestamptz not null,
  revoked_at timestamptz
);
create index sessions_of_person on directory.sessions (person);
create index sessions_by_end on directory.sessions (expires_at);

create table directory.person_sign_ins (
  person uuid primary key,
  last_sign_in_at timestamptz not null
);

create table directory.sign_in_links (
  token_hash bytea primary key,
  person uuid not null,
  purpose text not null check (purpose in ('sign_in', 'recovery')),
  created_at timestamptz not null default event_store.now(),
  expires_at timestamptz not null,
  used_at timestamptz
);

create table directory.known_devices (
  token_hash bytea primary key,
  person uuid not null,
  created_at timestamptz not null default event_store.now(),
  expires_at timestamptz not null
);
create index known_devices_of_person on directory.known_devices (person);

create table directory.login_failures (
  account bytea not null,
  source text not null,
  failures integer not null,
  last_failure_at timestamptz not null,
  locked_until timestamptz,
  primary key (account, source)
);
create index login_failures_by_age on directory.login_failures (last_failure_at);

-- Sessions that are open, with the person's role in each project: for the check at decision time (K16).
-- `settled` is false while a row is behind its stream: then ask the directory (POST /internal/persons/check), which catches up first.
create view directory.active_sessions as
  select s.id as session, s.person, m.project, m.role, s.method, s.created_at,
         person_stream.version = p.version and project_stream.version = j.version as settled
    from directory.sessions s
    join directory.persons p on p.id = s.person and p.password_fingerprint is not distinct from s.password_fingerprint
    join event_store.streams person_stream on person_stream.stream = s.person
    join directory.memberships m on m.person = s.person
    join directory.projects j on j.id = m.project
    join event_store.streams project_stream on project_stream.stream = m.project
    cross join lateral (select event_store.now() as at) now
   where s.revoked_at is null and s.expires_at > now.at and s.last_used_at > now.at - interval '24 hours';

grant select, insert, update, delete on all tables in schema directory to countersign_app;
