-- schema event_bus
table event_bus.cursors with (fillfactor=50)
  group_name text not null
  bucket smallint not null
  position bigint not null
  replay_until bigint not null default 0
  owner uuid
  epoch bigint not null default 0
  constraint cursors_bucket_check CHECK ((bucket >= 0))
  constraint cursors_group_name_fkey FOREIGN KEY (group_name) REFERENCES event_bus.groups(name)
  constraint cursors_pkey PRIMARY KEY (group_name, bucket)
  CREATE UNIQUE INDEX cursors_pkey ON event_bus.cursors USING btree (group_name, bucket)
table event_bus.groups
  name text not null
  categories text[] not null
  paused boolean not null default false
  constraint groups_pkey PRIMARY KEY (name)
  CREATE UNIQUE INDEX groups_pkey ON event_bus.groups USING btree (name)
table event_bus.members with (fillfactor=50)
  id uuid not null
  lease_until timestamp with time zone not null
  session integer
  constraint members_pkey PRIMARY KEY (id)
  CREATE UNIQUE INDEX members_pkey ON event_bus.members USING btree (id)
table event_bus.parked
  group_name text not null
  stream text not null
  stream_id uuid not null
  bucket smallint not null
  position bigint not null
  unknown_type text
  reason text not null
  parked_at timestamp with time zone not null
  replay_until bigint not null default 0
  release_requested boolean not null default false
  replayed integer not null default 0
  released_at timestamp with time zone
  constraint parked_group_name_fkey FOREIGN KEY (group_name) REFERENCES event_bus.groups(name)
  constraint parked_pkey PRIMARY KEY (group_name, stream)
  CREATE INDEX parked_now ON event_bus.parked USING btree (group_name, bucket) WHERE (released_at IS NULL)
  CREATE UNIQUE INDEX parked_pkey ON event_bus.parked USING btree (group_name, stream)
table event_bus.relays with (fillfactor=50)
  shard smallint not null
  position bigint not null
  owner uuid
  session integer
  epoch bigint not null default 0
  lease_until timestamp with time zone
  constraint relays_pkey PRIMARY KEY (shard)
  CREATE UNIQUE INDEX relays_pkey ON event_bus.relays USING btree (shard)
table event_bus.subscriptions
  group_name text not null
  member uuid not null
  constraint subscriptions_group_name_fkey FOREIGN KEY (group_name) REFERENCES event_bus.groups(name)
  constraint subscriptions_member_fkey FOREIGN KEY (member) REFERENCES event_bus.members(id) ON DELETE CASCADE
  constraint subscriptions_pkey PRIMARY KEY (group_name, member)
  CREATE INDEX subscriptions_by_member ON event_bus.subscriptions USING btree (member)
  CREATE UNIQUE INDEX subscriptions_pkey ON event_bus.subscriptions USING btree (group_name, member)
CREATE OR REPLACE FUNCTION event_bus.advance(p_group text, p_member uuid, p_buckets smallint[], p_epochs bigint[], p_position bigint)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
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
end $function$

CREATE OR REPLACE FUNCTION event_bus.beat(p_member uuid, p_groups text[], p_lease interval, p_session integer DEFAULT NULL::integer)
 RETURNS TABLE(group_name text, paused boolean, share integer, owned jsonb, releases text[])
 LANGUAGE plpgsql
AS $function$
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
end $function$

CREATE OR REPLACE FUNCTION event_bus.free_buckets(p_group text)
 RETURNS SETOF smallint
 LANGUAGE sql
AS $function$
  select c.bucket from event_bus.cursors c
  where c.group_name = p_group and not exists (
    select from event_bus.subscriptions s join event_bus.members m on m.id = s.member
    where s.group_name = p_group and s.member = c.owner and m.lease_until > clock_timestamp())
$function$

CREATE OR REPLACE FUNCTION event_bus.give_back(p_group text, p_member uuid, p_buckets smallint[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  perform 1 from event_bus.cursors
    where group_name = p_group and owner = p_member and (p_buckets is null or bucket = any (p_buckets)) order by bucket for no key update;
  update event_bus.cursors set owner = null, epoch = epoch + 1
    where group_name = p_group and owner = p_member and (p_buckets is null or bucket = any (p_buckets));
  perform pg_notify('event_bus', p_group);
end $function$

CREATE OR REPLACE FUNCTION event_bus.hold_relay(p_shard smallint, p_member uuid, p_session integer, p_lease interval, p_reach bigint)
 RETURNS TABLE(epoch bigint, "position" bigint)
 LANGUAGE plpgsql
AS $function$
#variable_conflict use_column
declare
  head bigint;
  mine boolean;
begin
  select h.position into head from event_store.head h where h.shard = p_shard;
  insert into event_bus.relays (shard, position) values (p_shard, head) on conflict do nothing;
  select r.owner = p_member into mine from event_bus.relays r where r.shard = p_shard;
  if mine then
    perform set_config('synchronous_commit', 'off', true);
  end if;
  return query
    update event_bus.relays r
      set owner = p_member, session = p_session, lease_until = clock_timestamp() + p_lease,
          epoch = r.epoch + case when r.owner = p_member then 0 else 1 end,
          position = case when r.owner = p_member or r.position >= head - p_reach then r.position else head end
      where r.shard = p_shard
        and (r.owner = p_member or r.owner is null or r.lease_until < clock_timestamp() or not event_bus.in_session(r.session))
      returning r.epoch, r.position;
end $function$

CREATE OR REPLACE FUNCTION event_bus.in_session(p_session integer)
 RETURNS boolean
 LANGUAGE sql
AS $function$
  select p_session is null or exists (
    select from pg_locks l join pg_database d on d.oid = l.database
    where l.locktype = 'advisory' and l.classid = event_bus.session_class()::oid and l.objid = p_session::oid and l.objsubid = 2
      and l.granted and d.datname = current_database())
$function$

CREATE OR REPLACE FUNCTION event_bus.seek(p_group text, p_position bigint)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  perform 1 from event_bus.cursors where group_name = p_group order by bucket for no key update;
  if not found then
    return false;
  end if;
  update event_bus.cursors set replay_until = greatest(replay_until, position), position = p_position, epoch = epoch + 1 where group_name = p_group;
  perform pg_notify('event_bus', p_group);
  return true;
end $function$

CREATE OR REPLACE FUNCTION event_bus.session_class()
 RETURNS integer
 LANGUAGE sql
 IMMUTABLE
AS $function$ select 1129534307 $function$

CREATE OR REPLACE FUNCTION event_bus.set_paused(p_group text, p_paused boolean)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
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
end $function$

grant execute on function event_bus.advance(text,uuid,smallint[],bigint[],bigint) to countersign_app
grant execute on function event_bus.beat(uuid,text[],interval,integer) to countersign_app
grant execute on function event_bus.free_buckets(text) to countersign_app
grant execute on function event_bus.give_back(text,uuid,smallint[]) to countersign_app
grant execute on function event_bus.hold_relay(smallint,uuid,integer,interval,bigint) to countersign_app
grant execute on function event_bus.in_session(integer) to countersign_app
grant execute on function event_bus.seek(text,bigint) to countersign_app
grant execute on function event_bus.session_class() to countersign_app
grant execute on function event_bus.set_paused(text,boolean) to countersign_app
grant usage on schema event_bus to countersign_app
grant delete, insert, select, update on table event_bus.cursors to countersign_app
grant delete, insert, select, update on table event_bus.groups to countersign_app
grant delete, insert, select, update on table event_bus.members to countersign_app
grant delete, insert, select, update on table event_bus.parked to countersign_app
grant insert, select, update on table event_bus.relays to countersign_app
grant delete, insert, select, update on table event_bus.subscriptions to countersign_app
