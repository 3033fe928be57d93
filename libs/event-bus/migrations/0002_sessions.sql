-- A process that is killed loses its connections at once, long before its lease runs out. Each member says which advisory lock the
-- connection it listens on holds; when that lock is gone, so is the member, and its buckets are free. A lock that is gone although the
-- process lives (a connection lost on the way) costs a change of hands, which the epoch fences, and nothing else.
alter table event_bus.members add column session integer;

-- First key of the advisory locks of sessions.
create function event_bus.session_class() returns integer
language sql immutable
as $$ select 1129534307 $$;

-- Whether a connection holds the advisory lock of a session; true where there is none to hold.
create function event_bus.in_session(p_session integer) returns boolean
language sql volatile
as $$
  select p_session is null or exists (
    select from pg_locks l join pg_database d on d.oid = l.database
    where l.locktype = 'advisory' and l.classid = event_bus.session_class()::oid and l.objid = p_session::oid and l.objsubid = 2
      and l.granted and d.datname = current_database())
$$;

drop function event_bus.beat(uuid, text[], interval);

-- One heartbeat of a process for all its groups: extends its lease, strikes off who is gone, claims its share of each group's free
-- buckets, and tells what it owns. `p_session` is the second key of the advisory lock held, null when there is none (and
-- left out by versions that know of none).
--
-- Leases run on the wall clock, not on event_store.now(): a lease measures whether a process is alive, and a test that makes a day pass
-- must not declare every member dead.
create function event_bus.beat(p_member uuid, p_groups text[], p_lease interval, p_session integer default null)
returns table (group_name text, paused boolean, share integer, owned jsonb, releases text[])
language plpgsql
as $$
#variable_conflict use_column
declare
  g text;
  live integer;
  before_me integer;
  mine integer;
  want integer;
  buckets integer;
  claimed boolean := false;
begin
  insert into event_bus.members as m values (p_member, clock_timestamp() + p_lease, p_session)
    on conflict (id) do update set lease_until = excluded.lease_until, session = excluded.session;
  insert into event_bus.subscriptions select unnest(p_groups), p_member on conflict do nothing;
  -- Rows that are locked belong to heartbeats under way: those members are alive, and waiting for each other could be a deadlock.
  delete from event_bus.members where id in (
    select m.id from event_bus.members m
      where m.id <> p_member and (m.lease_until < clock_timestamp() - interval '1 minute' or not event_bus.in_session(m.session))
      for update skip locked);

  foreach g in array p_groups loop
    select count(*), count(*) filter (where m.id < p_member) into live, before_me
      from event_bus.subscriptions s join event_bus.members m on m.id = s.member
      where s.group_name = g and m.lease_until > clock_timestamp();
    select count(*), count(*) filter (where c.owner = p_member) into buckets, mine from event_bus.cursors c where c.group_name = g;
    want := buckets / live + case when before_me < buckets % live then 1 else 0 end;
    if mine < want and exists (select from event_bus.free_buckets(g)) then
      -- One claimer of a group at a time, so that two do not take a bucket from each other by turns.
      perform 1 from event_bus.groups where name = g for no key update;
      update event_bus.cursors c set owner = p_member, epoch = c.epoch + 1
        where c.group_name = g and c.bucket in (select f from event_bus.free_buckets(g) f order by f limit want - mine);
      claimed := true;
    end if;
    return query
      select g, gr.paused, want,
        (select coalesce(jsonb_agg(jsonb_build_object('bucket', c.bucket, 'epoch', c.epoch, 'position', c.position, 'replayUntil', c.replay_until)
                                   order by c.bucket), '[]')
           from event_bus.cursors c where c.group_name = g and c.owner = p_member),
        (select coalesce(array_agg(p.stream order by p.position), '{}') from event_bus.parked p
           join event_bus.cursors c on c.group_name = p.group_name and c.bucket = p.bucket
           where p.group_name = g and p.released_at is null and p.release_requested and c.owner = p_member)
      from event_bus.groups gr where gr.name = g;
  end loop;
  -- A lost heartbeat costs nothing, so an idle process does not make the disk spin; a claim is durable.
  if not claimed then
    perform set_config('synchronous_commit', 'off', true);
  end if;
end $$;

revoke all on all functions in schema event_bus from public;
grant execute on all functions in schema event_bus to countersign_app;
