import { inTransaction } from '@countersign/database';
import type { Pool, PoolClient } from 'pg';
import { advanceHeads, lockEndpoints, setDueTimes } from './endpoints.js';
import { DUE_CHANNEL } from './enqueue.js';

/** A replay as the log has it: the delivery's uuid, and which replay of it this is, from 1. */
export interface Replay {
  id: string;
  replay: number;
}

/**
 * Puts dead letters back in line, behind what waits of their reviews, in the order they were first sent, with a whole round of attempts
 * before them. Each replay takes effect once, however often it is told. The circuit lets one try through at once: somebody has reason to
 * think that the endpoint works again.
 * @param options.urgent even while that try fails.
 */
export async function requeue(tx: PoolClient, replays: readonly Replay[], options: { urgent: boolean }): Promise<void> {
  const ids = replays.map((one) => one.id);
  const endpoints = await endpointsOf(tx, ids);
  const { now } = await lockEndpoints(tx, endpoints);
  const { rows } = await tx.query<{ review: string }>(
    `update webhooks.deliveries d
     set status = 'pending', sequence = r.sequence, attempts_apart = d.attempts, replays = r.replay, settled_at = null, dead_reason = null,
       unrecorded = false
     from (select id, replay, nextval('webhooks.delivery_sequence') as sequence
           from (select d.id, r.replay from unnest($1::uuid[], $2::int[]) as r (id, replay) join webhooks.deliveries d on d.id = r.id
                 where d.status = 'failed' and d.replays < r.replay order by d.sequence) in_order) r
     where d.id = r.id returning d.review`,
    [ids, replays.map((one) => one.replay)],
  );
  await tx.query(
    'update webhooks.endpoints set open_until = least(open_until, $2::timestamptz) where id = any($1) and open_until is not null',
    [endpoints, new Date(now)],
  );
  await advanceHeads(tx, [...new Set(rows.map((row) => row.review))], { now, hurry: options.urgent ? 'all' : 'no' });
  await setDueTimes(tx, endpoints, now);
  await tx.query(`notify ${DUE_CHANNEL}`);
}

/** After this time a replay nobody has put in line is taken for left behind by its process. */
const LEFT_BEHIND_SECONDS = 10;

/** Puts replays in line whose process died between recording them and doing so itself. @returns how many there were. */
export function requeueLeftBehind(pool: Pool): Promise<number> {
  return inTransaction(pool, async (tx) => {
    const { rows } = await tx.query<Replay>(
      `select id, replay_told as replay from webhooks.deliveries
       where status = 'failed' and replay_told > replays and replay_told_at < event_store.now() - make_interval(secs => $1)
       order by sequence limit 500`,
      [LEFT_BEHIND_SECONDS],
    );
    if (rows.length > 0) await requeue(tx, rows, { urgent: false });
    return rows.length;
  });
}

/** Has the head of a waiting delivery's review tried at once. @returns false when an attempt of this very delivery is running. */
export function hurry(pool: Pool, id: string): Promise<boolean> {
  return inTransaction(pool, async (tx) => {
    const endpoints = await endpointsOf(tx, [id]);
    const { now } = await lockEndpoints(tx, endpoints);
    const { rows } = await tx.query<{ review: string; running: boolean }>(
      `select review, lease is not null and next_attempt_at > $2 as running from webhooks.deliveries where id = $1 and status = 'pending'`,
      [id, new Date(now)],
    );
    const [waiting] = rows;
    if (waiting?.running) return false;
    if (waiting) await advanceHeads(tx, [waiting.review], { now, hurry: 'all' });
    await setDueTimes(tx, endpoints, now);
    await tx.query(`notify ${DUE_CHANNEL}`);
    return true;
  });
}

async function endpointsOf(tx: PoolClient, ids: readonly string[]): Promise<number[]> {
  const { rows } = await tx.query<{ endpoint: number }>('select distinct endpoint from webhooks.deliveries where id = any($1)', [ids]);
  return rows.map((row) => row.endpoint);
}
