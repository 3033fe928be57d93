-- The relay of a shard leaves nothing out while it runs, however far it falls behind: the process that runs it would go on from where it was,
-- and its next page would write that position back. Only who takes a relay over begins at the head.

-- Takes a shard's relay when nobody alive holds it, or extends the lease of the one who does; no row when another holds it. A relay that
-- never ran begins at the head, as one that changes hands more than `p_reach` events behind does: who needs what lies before reads the store.
create or replace function event_bus.hold_relay(p_shard smallint, p_member uuid, p_session integer, p_lease interval, p_reach bigint)
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
          position = case when r.owner = p_member or r.position >= head - p_reach then r.position else head end
      where r.shard = p_shard
        and (r.owner = p_member or r.owner is null or r.lease_until < clock_timestamp() or not event_bus.in_session(r.session))
      returning r.epoch, r.position;
end $$;
