/** What can be told of a group from the database alone, by any process. */
import type { Pool } from 'pg';
import type { Lag } from '../port.js';
import { countParked } from './parking.js';

/** @returns null when there is no such group. */
export async function groupLag(pool: Pool, group: string): Promise<Lag | null> {
  const { rows } = await pool.query<{ events: number; ageMs: number }>(
    // The lowest cursor first: it lets the primary key skip all that everybody has passed.
    `with low as (select min(position) as position from event_bus.cursors where group_name = $1)
     select count(e.position) as events,
            coalesce(extract(epoch from event_store.now() - min(e.time)) * 1000, 0)::float8 as "ageMs"
     from event_bus.groups g
     left join (event_store.events e join event_bus.cursors c on c.group_name = $1 and c.bucket = e.bucket and e.position > c.position)
       on e.category = any (g.categories) and e.shard = 0 and e.position > (select position from low)
     where g.name = $1 group by g.name`,
    [group],
  );
  const [row] = rows;
  return row ? { group, events: row.events, ageMs: Math.max(0, row.ageMs), parked: await countParked(pool, group) } : null;
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
