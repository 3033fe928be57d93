-- The store adapter's side of the event bus (decisions K10-K12): who works which bucket of a group, how far, and what is parked.
create schema event_bus;
revoke all on schema event_bus from public;
grant usage on schema event_bus to countersign_app;

-- A consumer group. Its categories are kept so that lag can be told by a process that has no such subscription.
create table event_bus.groups (
  name text primary key,
  categories text[] not null,
  paused boolean not null default false
);

-- A process that consumes. One row carries the lease of everything it owns, so a heartbeat writes one row.
create table event_bus.members (
  id uuid primary key,
  lease_until timestamptz not null
) with (fillfactor = 50);

create table event_bus.subscriptions (
  group_name text not null references event_bus.groups (name),
  member uuid not null references event_bus.members (id) on delete cascade,
  primary key (group_name, member)
);
create index subscriptions_by_member on event_bus.subscriptions (member);

-- Everything of the bucket up to `position` is handled, parked or of no interest to the group. `epoch` is the fencing token: it grows
-- with every change of hands, seek and pause, and a batch commits only under the epoch it began with.
create table event_bus.cursors (
  group_name text not null references event_bus.groups (name),
  bucket smallint not null check (bucket >= 0),
  position bigint not null,
  -- Events up to here were handled once already: a seek went back over them.
  replay_until bigint not null default 0,
  owner uuid,
  epoch bigint not null default 0,
  primary key (group_name, bucket)
) with (fillfactor = 50);

-- A stream whose events wait for the group, from `position` to the bucket's cursor. The events themselves stay in the store.
create table event_bus.parked (
  group_name text not null references event_bus.groups (name),
  stream text not null,
  stream_id uuid not null,
  bucket smallint not null,
  position bigint not null,
  -- Set when the event was parked because the group did not know its type: a version that does lets it flow.
  unknown_type text,
  reason text not null,
  parked_at timestamptz not null,
  -- Waiting events up to here had been handled before they were parked.
  replay_until bigint not null default 0,
  release_requested boolean not null default false,
  replayed integer not null default 0,
  released_at timestamptz,
  primary key (group_name, stream)
);
create index parked_now on event_bus.parked (group_name, bucket) where released_at is null;

-- One heartbeat of a process for all its groups: extends its lease, claims its share of each group's free buckets, and tells what it owns.
--
-- Leases run on the wall clock, not on event_store.now(): a lease measures whether a process is alive, and a test that makes a day pass
-- must not declare every member dead.
create function event_bus.beat(p_member uuid, p_groups text[], p_lease interval)
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
  insert into event_bus.members as m values (p_member, clock_timestamp() + p_lease)
    on conflict (id) do update set lease_until = excluded.lease_until;
  insert into event_bus.subscriptions select unnest(p_groups), p_member on conflict do nothing;
  delete from event_bus.members where lease_until < clock_timestamp() - interval '1 minute';

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

-- Buckets of a group nobody works: never owned, given back, or owned by a process whose lease ran out.
create function event_bus.free_buckets(p_group text) returns setof smallint
language sql volatile
as $$
  select c.bucket from event_bus.cursors c
  where c.group_name = p_group and not exists (
    select from event_bus.subscriptions s join event_bus.members m on m.id = s.member
    where s.group_name = p_group and s.member = c.owner and m.lease_until > clock_timestamp())
$$;

-- Moves cursors if every one of them is still held under the epoch the caller read; otherwise moves none and answers false (fenced).
create function event_bus.advance(p_group text, p_member uuid, p_buckets smallint[], p_epochs bigint[], p_position bigint) returns boolean
language plpgsql
as $$
declare held integer;
begin
  perform 1 from event_bus.cursors c join unnest(p_buckets, p_epochs) m (bucket, epoch) on c.bucket = m.bucket
    where c.group_name = p_group and c.owner = p_member and c.epoch = m.epoch
    order by c.bucket for no key update of c;
  get diagnostics held = row_count;
  if held <> cardinality(p_buckets) then
    return false;
  end if;
  update event_bus.cursors c set position = p_position
    where c.group_name = p_group and c.bucket = any (p_buckets) and c.position < p_position;
  return true;
end $$;

-- Gives buckets back (all of them when p_buckets is null), so that another member can take them at once.
create function event_bus.give_back(p_group text, p_member uuid, p_buckets smallint[]) returns void
language plpgsql
as $$
begin
  perform 1 from event_bus.cursors
    where group_name = p_group and owner = p_member and (p_buckets is null or bucket = any (p_buckets)) order by bucket for no key update;
  update event_bus.cursors set owner = null, epoch = epoch + 1
    where group_name = p_group and owner = p_member and (p_buckets is null or bucket = any (p_buckets));
  perform pg_notify('event_bus', p_group);
end $$;

-- Sets all cursors of a group. A batch in flight is fenced by the new epoch and undone.
create function event_bus.seek(p_group text, p_position bigint) returns boolean
language plpgsql
as $$
begin
  perform 1 from event_bus.cursors where group_name = p_group order by bucket for no key update;
  if not found then
    return false;
  end if;
  update event_bus.cursors set replay_until = greatest(replay_until, position), position = p_position, epoch = epoch + 1 where group_name = p_group;
  perform pg_notify('event_bus', p_group);
  return true;
end $$;

-- Stops or starts a group everywhere. Stopping fences batches in flight: once this has committed, none of them can.
create function event_bus.set_paused(p_group text, p_paused boolean) returns boolean
language plpgsql
as $$
begin
  update event_bus.groups set paused = p_paused where name = p_group;
  if not found then
    return false;
  end if;
  if p_paused then
    perform 1 from event_bus.cursors where group_name = p_group order by bucket for no key update;
    update event_bus.cursors set epoch = epoch + 1 where group_name = p_group;
  end if;
  perform pg_notify('event_bus', p_group);
  return true;
end $$;

grant select, insert, update, delete on all tables in schema event_bus to countersign_app;
revoke all on all functions in schema event_bus from public;
grant execute on all functions in schema event_bus to countersign_app;
