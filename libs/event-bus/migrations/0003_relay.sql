-- Who publishes a shard's committed events to Kafka, and how far it has got: everything up to `position` was acknowledged by the brokers.
-- `epoch` grows with every change of hands, and a position is written only under the epoch it was published in. A process that lost the
-- relay without noticing can still send what it had in hand; consumers know such copies by their positions.
create table event_bus.relays (
  shard smallint primary key,
  position bigint not null,
  owner uuid,
  session integer,
  epoch bigint not null default 0,
  lease_until timestamptz
) with (fillfactor = 50);

-- Takes a shard's relay when nobody alive holds it, or extends the lease of the one who does; no row when another holds it. A relay that
-- never ran begins at the head, as one that is more than `p_reach` events behind does: who needs what lies before reads the store.
create function event_bus.hold_relay(p_shard smallint, p_member uuid, p_session integer, p_lease interval, p_reach bigint)
returns table (epoch bigint, "position" bigint)
language plpgsql
as $$
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
          position = case when r.position < head - p_reach then head else r.position end
      where r.shard = p_shard
        and (r.owner = p_member or r.owner is null or r.lease_until < clock_timestamp() or not event_bus.in_session(r.session))
      returning r.epoch, r.position;
end $$;

grant select, insert, update on event_bus.relays to countersign_app;
revoke all on all functions in schema event_bus from public;
grant execute on all functions in schema event_bus to countersign_app;
