-- schema directory
table directory.api_keys
  id uuid not null
  version integer not null
  project uuid not null
  status text not null
  fingerprint text not null
  prefix text not null
  name text not null
  description text
  scopes text[] not null
  template_ids text[]
  owner uuid
  contact uuid
  default_reviewer uuid
  rate_limit_per_hour integer
  ip_allowlist text[]
  expires_at timestamp with time zone
  created_at timestamp with time zone not null
  updated_at timestamp with time zone not null
  former_owners uuid[] not null default '{}'::uuid[]
  constraint api_keys_pkey PRIMARY KEY (id)
  constraint api_keys_status_check CHECK ((status = ANY (ARRAY['active'::text, 'disabled'::text])))
  CREATE INDEX api_keys_of_project ON directory.api_keys USING btree (project)
  CREATE UNIQUE INDEX api_keys_pkey ON directory.api_keys USING btree (id)
table directory.gone
  stream uuid not null
  version integer not null
  constraint gone_pkey PRIMARY KEY (stream)
  CREATE UNIQUE INDEX gone_pkey ON directory.gone USING btree (stream)
table directory.guess_levels
  counter text not null
  level double precision not null
  at timestamp with time zone not null
  constraint guess_levels_pkey PRIMARY KEY (counter)
  CREATE INDEX guess_levels_by_age ON directory.guess_levels USING btree (at)
  CREATE UNIQUE INDEX guess_levels_pkey ON directory.guess_levels USING btree (counter)
table directory.invitations
  id uuid not null
  project uuid not null
  email text not null
  email_key text not null
  token_hash bytea not null
  created_at timestamp with time zone not null default event_store.now()
  constraint invitations_pkey PRIMARY KEY (id)
  constraint invitations_token_hash_key UNIQUE (token_hash)
  CREATE UNIQUE INDEX invitations_pkey ON directory.invitations USING btree (id)
  CREATE INDEX invitations_to ON directory.invitations USING btree (project, email_key)
  CREATE UNIQUE INDEX invitations_token_hash_key ON directory.invitations USING btree (token_hash)
table directory.joining
  person uuid not null
  project uuid not null
  created_at timestamp with time zone not null default event_store.now()
  constraint joining_pkey PRIMARY KEY (person, project)
  CREATE UNIQUE INDEX joining_pkey ON directory.joining USING btree (person, project)
  CREATE INDEX joining_project ON directory.joining USING btree (project)
table directory.key_credentials
  hash bytea not null
  fingerprint text not null
  key uuid not null
  project uuid not null
  created_at timestamp with time zone not null default event_store.now()
  constraint key_credentials_fingerprint_key UNIQUE (fingerprint)
  constraint key_credentials_pkey PRIMARY KEY (hash)
  CREATE UNIQUE INDEX key_credentials_fingerprint_key ON directory.key_credentials USING btree (fingerprint)
  CREATE INDEX key_credentials_of_key ON directory.key_credentials USING btree (key)
  CREATE INDEX key_credentials_of_project ON directory.key_credentials USING btree (project)
  CREATE UNIQUE INDEX key_credentials_pkey ON directory.key_credentials USING btree (hash)
table directory.key_uses
  key uuid not null
  last_used_at timestamp with time zone not null
  constraint key_uses_pkey PRIMARY KEY (key)
  CREATE UNIQUE INDEX key_uses_pkey ON directory.key_uses USING btree (key)
table directory.known_devices
  token_hash bytea not null
  person uuid not null
  created_at timestamp with time zone not null default event_store.now()
  expires_at timestamp with time zone not null
  constraint known_devices_pkey PRIMARY KEY (token_hash, person)
  CREATE INDEX known_devices_of_person ON directory.known_devices USING btree (person)
  CREATE UNIQUE INDEX known_devices_pkey ON directory.known_devices USING btree (token_hash, person)
table directory.login_failures
  account bytea not null
  source text not null
  failures integer not null
  last_failure_at timestamp with time zone not null
  locked_until timestamp with time zone
  constraint login_failures_pkey PRIMARY KEY (account, source)
  CREATE INDEX login_failures_by_age ON directory.login_failures USING btree (last_failure_at)
  CREATE UNIQUE INDEX login_failures_pkey ON directory.login_failures USING btree (account, source)
table directory.memberships
  person uuid not null
  project uuid not null
  role text not null
  since timestamp with time zone not null
  constraint memberships_pkey PRIMARY KEY (person, project)
  constraint memberships_role_check CHECK ((role = ANY (ARRAY['admin'::text, 'reviewer'::text])))
  CREATE INDEX memberships_of_project ON directory.memberships USING btree (project)
  CREATE UNIQUE INDEX memberships_pkey ON directory.memberships USING btree (person, project)
table directory.passwords
  person uuid not null
  fingerprint text not null
  verifier text not null
  created_at timestamp with time zone not null default event_store.now()
  constraint passwords_pkey PRIMARY KEY (person, fingerprint)
  CREATE UNIQUE INDEX passwords_pkey ON directory.passwords USING btree (person, fingerprint)
table directory.person_sign_ins
  person uuid not null
  last_sign_in_at timestamp with time zone not null
  constraint person_sign_ins_pkey PRIMARY KEY (person)
  CREATE UNIQUE INDEX person_sign_ins_pkey ON directory.person_sign_ins USING btree (person)
table directory.persons
  id uuid not null
  version integer not null
  email text not null
  name text not null
  password_fingerprint text
  password_is_temporary boolean not null
  created_at timestamp with time zone not null
  constraint persons_pkey PRIMARY KEY (id)
  CREATE UNIQUE INDEX persons_pkey ON directory.persons USING btree (id)
table directory.project_secrets
  project uuid not null
  fingerprint text not null
  sealed bytea not null
  created_at timestamp with time zone not null default event_store.now()
  constraint project_secrets_pkey PRIMARY KEY (project, fingerprint)
  CREATE UNIQUE INDEX project_secrets_pkey ON directory.project_secrets USING btree (project, fingerprint)
table directory.projects
  id uuid not null
  version integer not null
  name text not null
  slug text not null
  description text
  created_at timestamp with time zone not null
  updated_at timestamp with time zone not null
  constraint projects_pkey PRIMARY KEY (id)
  CREATE INDEX projects_by_name ON directory.projects USING btree (name)
  CREATE UNIQUE INDEX projects_pkey ON directory.projects USING btree (id)
table directory.sessions
  id uuid not null
  token_hash bytea not null
  person uuid not null
  password_fingerprint text
  method text not null
  recovery boolean not null
  ip text
  user_agent text
  created_at timestamp with time zone not null default event_store.now()
  last_used_at timestamp with time zone not null default event_store.now()
  expires_at timestamp with time zone not null
  revoked_at timestamp with time zone
  constraint sessions_method_check CHECK ((method = ANY (ARRAY['password'::text, 'passkey'::text, 'sign_in_link'::text, 'recovery_link'::text])))
  constraint sessions_pkey PRIMARY KEY (id)
  constraint sessions_token_hash_key UNIQUE (token_hash)
  CREATE INDEX sessions_by_end ON directory.sessions USING btree (expires_at)
  CREATE INDEX sessions_of_person ON directory.sessions USING btree (person)
  CREATE UNIQUE INDEX sessions_pkey ON directory.sessions USING btree (id)
  CREATE UNIQUE INDEX sessions_token_hash_key ON directory.sessions USING btree (token_hash)
table directory.sign_in_links
  token_hash bytea not null
  person uuid not null
  purpose text not null
  created_at timestamp with time zone not null default event_store.now()
  expires_at timestamp with time zone not null
  used_at timestamp with time zone
  constraint sign_in_links_pkey PRIMARY KEY (token_hash)
  constraint sign_in_links_purpose_check CHECK ((purpose = ANY (ARRAY['sign_in'::text, 'recovery'::text])))
  CREATE UNIQUE INDEX sign_in_links_pkey ON directory.sign_in_links USING btree (token_hash)
grant usage on schema directory to countersign_app
grant delete, insert, select, update on table directory.api_keys to countersign_app
grant delete, insert, select, update on table directory.gone to countersign_app
grant delete, insert, select, update on table directory.guess_levels to countersign_app
grant delete, insert, select, update on table directory.invitations to countersign_app
grant delete, insert, select, update on table directory.joining to countersign_app
grant delete, insert, select, update on table directory.key_credentials to countersign_app
grant delete, insert, select, update on table directory.key_uses to countersign_app
grant delete, insert, select, update on table directory.known_devices to countersign_app
grant delete, insert, select, update on table directory.login_failures to countersign_app
grant delete, insert, select, update on table directory.memberships to countersign_app
grant delete, insert, select, update on table directory.passwords to countersign_app
grant delete, insert, select, update on table directory.person_sign_ins to countersign_app
grant delete, insert, select, update on table directory.persons to countersign_app
grant delete, insert, select, update on table directory.project_secrets to countersign_app
grant delete, insert, select, update on table directory.projects to countersign_app
grant delete, insert, select, update on table directory.sessions to countersign_app
grant delete, insert, select, update on table directory.sign_in_links to countersign_app
