-- breaking
-- Reviews a day, of each template: an API key that is limited to some templates is told of those alone. Counted anew from the reviews, which
-- stand where the cursor does; writers are kept out of them meanwhile.
lock table audit.reviews in share mode;
delete from audit.days;
alter table audit.days
  drop constraint days_pkey,
  add column template text not null,
  add primary key (project, day, template);
insert into audit.days (project, day, template, count)
select project, (created_at at time zone 'UTC')::date, template, count(*) from audit.reviews where status <> 'erased' group by 1, 2, 3;
