/** What can be told of groups and of the relay from the database alone, by any process. */
import type { Pool } from 'pg';
import type { BusSnapshot, Lag, RelayState } from '../port.js';

/** @returns null when there is no such group. */
export async function groupLag(pool: Pool, group: string): Promise<Lag | null> {
  return (await lags(pool, group))[0] ?? null;
}

export async function snapshot(pool: Pool): Promise<BusSnapshot> {
  const [groups, relay] = await Promise.all([lags(pool, null), relayState(pool)]);
  return { groups, relay };
}

async function lags(pool: Pool, group: string | null): Promise<Lag[]> {
  const { rows } = await pool.query<Lag>(
    // The lowest cursor first: it lets the primary key skip all that everybody has passed.
    `select g.name as group, l.*, p.*
     from event_bus.groups g,
       lateral (select min(position) as position from event_bus.cursors where group_name = g.name) low,
       lateral (select count(*) as events,
                       greatest(coalesce(extract(epoch from event_store.now() - min(e.time)) * 1000, 0), 0)::float8 as "ageMs"
                from event_store.events e join event_bus.cursors c on c.group_name = g.name and c.bucket = e.bucket and e.position > c.position
                where e.category = any (g.categories) and e.shard = 0 and e.position > low.position) l,
       lateral (select count(*) as parked from event_bus.parked where group_name = g.name and released_at is null) p
     where $1::text is null or g.name = $1 order by g.name`,
    [group],
  );
  return rows;
}

/** @returns null when nothing of this database was ever published to Kafka. */
export async function relayState(pool: Pool): Promise<RelayState | null> {
  const { rows } = await pool.query<RelayState>(
    // Positions are dense: how many wait is a difference, and the oldest is the next.
    `select r.position, h.position - r.position as behind,
            greatest(coalesce(extract(epoch from event_store.now() - next.time) * 1000, 0), 0)::float8 as "ageMs",
            r.owner is not null and r.lease_until > clock_timestamp() and event_bus.in_session(r.session) as running
     from event_bus.relays r join event_store.head h on h.shard = r.shard
       left join event_store.events next on next.shard = r.shard and next.position = r.position + 1
     where r.shard = 0`,
  );
  return rows[0] ?? null;
}

/**
 * Whether a group has nothing left to handle up to a position. A cursor may lag behind over events the group takes no interest in, so
 * what counts is whether an event of its categories lies in between.
 */
export async function groupReached(pool: Pool, group: string, position: number, bucket: number | 'all'): Promise<boolean> {
  const { rows } = await pool.query<{ reached: boolean }>({
    name: 'event_bus.reached',
    text: `select not exists (
             select from event_bus.cursors c join event_store.events e on e.shard = 0 and e.position > c.position and e.position <= $2 and e.bucket = c.bucket
             where c.group_name = g.name and ($3::smallint is null or c.bucket = $3) and c.position < $2 and e.category = any (g.categories)) as reached
           from event_bus.groups g where g.name = $1`,
    values: [group, position, bucket === 'all' ? null : bucket],
  });
  return rows[0]?.reached === true;
}
