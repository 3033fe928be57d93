-- Who owned a key before: they may not approve what it asks. Every row is behind its stream from here on, so the next look at a key folds it anew.
alter table directory.api_keys add column former_owners uuid[] not null default '{}';
update directory.api_keys set version = 0;
