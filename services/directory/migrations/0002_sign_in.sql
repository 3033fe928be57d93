-- A session says whether its one-time link was an ordinary one or one for recovery.
alter table directory.sessions drop constraint sessions_method_check;
update directory.sessions set method = 'sign_in_link' where method = 'recovery_link' and not recovery;
alter table directory.sessions add constraint sessions_method_check
  check (method in ('password', 'passkey', 'sign_in_link', 'recovery_link'));

-- A browser that several people sign in with is known for each of them.
alter table directory.known_devices drop constraint known_devices_pkey;
alter table directory.known_devices add primary key (token_hash, person);

-- Failed sign-ins of a whole account or a whole address: a level that rises by one with each and falls with time.
create table directory.guess_levels (
  counter text primary key,
  level double precision not null,
  at timestamptz not null
);
create index guess_levels_by_age on directory.guess_levels (at);
grant select, insert, update, delete on directory.guess_levels to countersign_app;
