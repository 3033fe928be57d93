-- When a review was decided, expired or was withdrawn: the order of what is over, the latest first. Worked out by the table itself, so that
-- rows have it whichever release wrote them.

-- Text in ISO 8601 with its zone is the same time in every session, which PostgreSQL cannot know of the cast.
create function audit.settled_at(state json) returns timestamptz
language sql immutable parallel safe
return coalesce(state #>> '{outcome,decided_at}', state #>> '{outcome,expired_at}')::timestamptz;

alter table audit.reviews add column settled_at timestamptz
  generated always as (case when status in ('decided', 'expired', 'archived') then audit.settled_at(state) end) stored;

create index reviews_settled on audit.reviews (project, settled_at desc, review desc) where settled_at is not null;
create index reviews_settled_by_status on audit.reviews (project, status, settled_at desc, review desc) where settled_at is not null;
