import { inTransaction } from '@countersign/database';
import type { Pool, PoolClient } from 'pg';
import { type CircuitPolicy, roomOf } from './circuit.js';
import { databaseTime, type LockedEndpoint, lockedEndpoint, setDueTimes } from './endpoints.js';

/** An attempt this process owns until its lease ends. */
export interface Claimed {
  /** uuid of the delivery. */
  id: string;
  endpoint: number;
  project: string;
  review: string;
  event_type: string;
  url: string;
  body: string;
  request_id: string | null;
  lease: string;
  /** Number of the attempt over the delivery's life, from 1. */
  attempts: number;
  /** Attempts before it that do not count in its round. */
  attempts_apart: number;
}

/** Most endpoints looked at in one go. */
const ENDPOINTS = 32;

const LOST = 'The process that made this attempt ended before it had an answer; whether the receiver saw it is unknown.';

/**
 * Takes due deliveries for this process: the longest due endpoints first, one of each in turn, as many as each has room for.
 *
 * An endpoint another process is claiming from at the same time is skipped, so claimers do not wait for each other, and no delivery is
 * taken twice while its lease runs. A delivery whose lease has ended is taken again; that attempt counts, and its log says it was lost.
 */
export function claim(pool: Pool, capacity: number, policy: CircuitPolicy & { lease: number }): Promise<Claimed[]> {
  return inTransaction(pool, async (tx) => {
    const endpoints = await dueEndpoints(tx);
    if (endpoints.length === 0) return [];
    const now = await databaseTime(tx);
    const ids = endpoints.map((endpoint) => endpoint.id);
    const running = await runningAttempts(tx, ids, now);
    const rooms = endpoints.map((endpoint) => ({ id: endpoint.id, ...roomOf(endpoint, running.get(endpoint.id) ?? 0, now, policy) }));
    const claimed = await lease(tx, rooms, { capacity, now, leaseMs: policy.lease });
    const taken = (id: number) => claimed.filter((one) => one.endpoint === id).length;
    const full = rooms.filter((endpoint) => taken(endpoint.id) >= endpoint.room).map((endpoint) => endpoint.id);
    await setDueTimes(tx, ids, now, full);
    return claimed;
  });
}

async function dueEndpoints(tx: PoolClient): Promise<LockedEndpoint[]> {
  const { rows } = await tx.query(
    `select id, failures, open_until from webhooks.endpoints where due_at <= (select event_store.now())
     order by due_at limit $1 for no key update skip locked`,
    [ENDPOINTS],
  );
  return rows.map(lockedEndpoint);
}

async function runningAttempts(tx: PoolClient, endpoints: readonly number[], now: number): Promise<Map<number, number>> {
  const { rows } = await tx.query<{ endpoint: number; running: number }>(
    `select endpoint, count(*) as running from webhooks.deliveries
     where endpoint = any($1) and lease is not null and next_attempt_at > $2 group by endpoint`,
    [endpoints, new Date(now)],
  );
  return new Map(rows.map((row) => [row.endpoint, row.running]));
}

async function lease(
  tx: PoolClient,
  rooms: readonly { id: number; room: number; urgentOnly: boolean }[],
  options: { capacity: number; now: number; leaseMs: number },
): Promise<Claimed[]> {
  const now = new Date(options.now);
  const { rows } = await tx.query<Claimed & { lost: boolean }>(
    `with chosen as (
       select d.id, d.lost, row_number() over (partition by e.id order by d.next_attempt_at, d.sequence) as turn, d.next_attempt_at
       from unnest($1::bigint[], $2::int[], $3::boolean[]) as e (id, room, urgent_only)
       cross join lateral (
         (select id, lease is not null as lost, next_attempt_at, sequence from webhooks.deliveries
          where endpoint = e.id and not e.urgent_only and next_attempt_at <= $4 order by next_attempt_at, sequence limit e.room)
         union all
         (select id, lease is not null, next_attempt_at, sequence from webhooks.deliveries
          where endpoint = e.id and e.urgent_only and expedited and next_attempt_at <= $4 order by next_attempt_at, sequence limit e.room)
       ) d
       order by turn, d.next_attempt_at limit $5
     )
     update webhooks.deliveries d
     set attempts = d.attempts + 1, lease = gen_random_uuid(), next_attempt_at = $6, expedited = false, last_attempt_at = $4
     from chosen where d.id = chosen.id
     returning d.id, d.endpoint, d.project, d.review, d.event_type, d.url, d.body, d.request_id, d.lease, d.attempts, d.attempts_apart, chosen.lost`,
    [
      rooms.map((one) => one.id),
      rooms.map((one) => one.room),
      rooms.map((one) => one.urgentOnly),
      now,
      options.capacity,
      new Date(options.now + options.leaseMs),
    ],
  );
  const lost = rows.filter((row) => row.lost);
  if (lost.length > 0) {
    await tx.query(
      `update webhooks.attempts set stage = 'attempt', outcome = 'failed', error = $2 where delivery = any($1) and outcome is null`,
      [lost.map((row) => row.id), LOST],
    );
  }
  await tx.query(`insert into webhooks.attempts (delivery, number, started_at) select *, $3 from unnest($1::uuid[], $2::int[])`, [
    rows.map((row) => row.id),
    rows.map((row) => row.attempts),
    now,
  ]);
  return rows.map(({ lost: _, ...claimed }) => claimed);
}
