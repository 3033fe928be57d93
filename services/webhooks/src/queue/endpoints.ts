/**
 * The rows of endpoints: the lock of everything that waits for them.
 *
 * L1 Whoever adds, claims, settles or replays a delivery holds the row of its endpoint. So at any time one delivery of a review is the head
 *    (the only one with `next_attempt_at`), and the circuit is read and written by one.
 * L2 Several rows are locked in the order of their ids; claiming skips what another holds. Rows that must be made first are made in the
 *    order of (project, origin).
 * L3 `due_at` is a promise: nothing of the endpoint can start before it. Whoever makes something due earlier moves it.
 */
import type { PoolClient } from 'pg';
import type { Circuit } from './circuit.js';

export interface LockedEndpoint extends Circuit {
  id: number;
}

interface Row {
  id: number;
  failures: number;
  open_until: Date | null;
  now: Date;
}

export function lockedEndpoint(row: Row): LockedEndpoint {
  return { id: row.id, failures: row.failures, openUntil: row.open_until?.getTime() ?? null };
}

/** Locks endpoints and reads the database's time after that. */
export async function lockEndpoints(tx: PoolClient, ids: readonly number[]): Promise<{ endpoints: LockedEndpoint[]; now: number }> {
  const { rows } = await tx.query<Row>(
    'select id, failures, open_until from webhooks.endpoints where id = any($1) order by id for no key update',
    [ids],
  );
  return { endpoints: rows.map(lockedEndpoint), now: await databaseTime(tx) };
}

/** Unix milliseconds. */
export async function databaseTime(tx: PoolClient): Promise<number> {
  const { rows } = await tx.query<{ now: Date }>('select event_store.now() as now');
  return (rows[0] as { now: Date }).now.getTime();
}

/** Makes the endpoints that do not exist yet, locks all, and tells the id of each (L2). */
export async function endpointsFor(
  tx: PoolClient,
  places: readonly { project: string; origin: string }[],
): Promise<(place: { project: string; origin: string }) => number> {
  const key = ({ project, origin }: { project: string; origin: string }) => `${project} ${origin}`;
  const distinct = [...new Map(places.map((place) => [key(place), place])).entries()]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, place]) => place);
  const columns = [distinct.map((place) => place.project), distinct.map((place) => place.origin)];
  await tx.query(
    `insert into webhooks.endpoints (project, origin) select * from unnest($1::uuid[], $2::text[]) on conflict do nothing`,
    columns,
  );
  const { rows } = await tx.query<{ id: number; project: string; origin: string }>(
    `select e.id, e.project, e.origin from webhooks.endpoints e join unnest($1::uuid[], $2::text[]) as p (project, origin)
       on e.project = p.project and e.origin = p.origin order by e.id for no key update of e`,
    columns,
  );
  const ids = new Map(rows.map((row) => [key(row), row.id]));
  return (place) => ids.get(key(place)) as number;
}

/**
 * Lets the first waiting delivery of each review be the head, due now. One that is being tried is left alone.
 * @param options.hurry a head that waits for another try is tried at once, even while the circuit is open: something new happened to its
 *   review (decision 11). `all`: a head that was not due before is urgent too.
 */
export async function advanceHeads(
  tx: PoolClient,
  reviews: readonly string[],
  options: { now: number; hurry: 'no' | 'blocked' | 'all' },
): Promise<void> {
  if (reviews.length === 0) return;
  await tx.query(
    `update webhooks.deliveries d
     set next_attempt_at = least(d.next_attempt_at, $2::timestamptz), expedited = d.expedited or $4 or ($3 and d.next_attempt_at is not null)
     from (select distinct on (review) id from webhooks.deliveries where review = any($1) and status = 'pending' order by review, sequence) head
     where d.id = head.id and (d.next_attempt_at is null or ($3 and d.lease is null))`,
    [reviews, new Date(options.now), options.hurry !== 'no', options.hurry === 'all'],
  );
}

/**
 * Works out when something of these endpoints can start next (L3).
 * @param full endpoints with no room: what is due already starts when one of the running attempts has ended, or its lease has.
 */
export async function setDueTimes(tx: PoolClient, ids: readonly number[], now: number, full: readonly number[] = []): Promise<void> {
  await tx.query(
    `update webhooks.endpoints e set due_at = case
       when e.open_until > $2 then least(
         greatest((select min(next_attempt_at) from webhooks.deliveries where endpoint = e.id and next_attempt_at is not null), e.open_until),
         (select min(next_attempt_at) from webhooks.deliveries where endpoint = e.id and expedited and next_attempt_at > f.floor))
       else (select min(next_attempt_at) from webhooks.deliveries where endpoint = e.id and next_attempt_at > f.floor)
     end
     from (select id, case when id = any($3) then $2::timestamptz else '-infinity' end as floor from unnest($1::bigint[]) id) f
     where e.id = f.id`,
    [ids, new Date(now), full],
  );
}
