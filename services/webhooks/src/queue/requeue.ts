import { inTransaction } from '@countersign/database';
import type { Pool, PoolClient } from 'pg';
import { DUE_CHANNEL, type QueuePolicy } from './queue.js';

/** A replay as the log has it: the delivery's uuid, and which replay of it this is, from 1. */
export interface Replay {
  id: string;
  replay: number;
}

/**
 * Puts dead letters back in line, behind what waits of their reviews, in the order they were first sent, with a whole round of attempts
 * before them. Each replay takes effect once, however often it is told. The circuit lets one try through at once: somebody has reason to
 * think that the endpoint works again.
 * One whose review was erased since it was recorded has no bytes left: it ends again, so that the log tells its end.
 * @param options.expedited even while the circuit is open.
 */
export async function requeue(tx: PoolClient, replays: readonly Replay[], options: QueuePolicy & { expedited: boolean }): Promise<void> {
  const ids = replays.map((one) => one.id);
  const { endpoints, now } = await lockEndpointsOf(tx, ids);
  const counts = replays.map((one) => one.replay);
  await tx.query(
    `update webhooks.deliveries d set replays = r.replay, dead_letter_reason = 'review_erased', settled_at = $3, unrecorded = true
     from unnest($1::uuid[], $2::int[]) as r (id, replay)
     where d.id = r.id and d.status = 'dead_lettered' and d.replays < r.replay and d.body is null`,
    [ids, counts, now],
  );
  const { rows } = await tx.query<{ review: string }>(
    `update webhooks.deliveries d
     set status = 'pending', sequence = r.sequence, attempts_apart = d.attempts, replays = r.replay, settled_at = null, dead_letter_reason = null,
       unrecorded = false
     from (select id, replay, nextval('webhooks.delivery_sequence') as sequence
           from (select d.id, r.replay from unnest($1::uuid[], $2::int[]) as r (id, replay) join webhooks.deliveries d on d.id = r.id
                 where d.status = 'dead_lettered' and d.replays < r.replay order by d.sequence) in_order) r
     where d.id = r.id returning d.review`,
    [ids, counts],
  );
  await tx.query('update webhooks.endpoints set open_until = least(open_until, $2) where id = any($1) and open_until is not null', [
    endpoints,
    now,
  ]);
  const reviews = [...new Set(rows.map((row) => row.review))];
  await tx.query('select webhooks.advance_heads($1, $2, $3, $3)', [reviews, now, options.expedited]);
  await announce(tx, endpoints, now, options);
}

/** After this time a replay nobody has put in line is taken for left behind by its process. */
const LEFT_BEHIND_SECONDS = 10;

/** Puts replays in line whose process died between recording them and doing so itself. @returns how many there were. */
export function requeueLeftBehind(pool: Pool, policy: QueuePolicy): Promise<number> {
  return inTransaction(pool, async (tx) => {
    const { rows } = await tx.query<Replay>(
      `select id, replay_told as replay from webhooks.deliveries
       where status = 'dead_lettered' and replay_told > replays and replay_told_at < event_store.now() - make_interval(secs => $1)
       order by sequence limit 500`,
      [LEFT_BEHIND_SECONDS],
    );
    if (rows.length > 0) await requeue(tx, rows, { ...policy, expedited: false });
    return rows.length;
  });
}

/** Has the head of a waiting delivery's review tried at once. @returns false when an attempt of this very delivery is running. */
export function expedite(pool: Pool, id: string, policy: QueuePolicy): Promise<boolean> {
  return inTransaction(pool, async (tx) => {
    const { endpoints, now } = await lockEndpointsOf(tx, [id]);
    const { rows } = await tx.query<{ review: string; running: boolean }>(
      `select review, lease is not null and next_attempt_at > $2 as running from webhooks.deliveries where id = $1 and status = 'pending'`,
      [id, now],
    );
    const [waiting] = rows;
    if (waiting?.running) return false;
    if (waiting) await tx.query('select webhooks.advance_heads($1, $2, true, true)', [[waiting.review], now]);
    await announce(tx, endpoints, now, policy);
    return true;
  });
}

async function lockEndpointsOf(tx: PoolClient, ids: readonly string[]): Promise<{ endpoints: number[]; now: Date }> {
  const { rows } = await tx.query<{ id: number }>(
    `select id from webhooks.endpoints where id in (select endpoint from webhooks.deliveries where id = any($1))
     order by id for no key update`,
    [ids],
  );
  const time = await tx.query<{ now: Date }>('select webhooks.time_now() as now');
  return { endpoints: rows.map((row) => row.id), now: (time.rows[0] as { now: Date }).now };
}

async function announce(tx: PoolClient, endpoints: readonly number[], now: Date, policy: QueuePolicy): Promise<void> {
  await tx.query('select webhooks.set_due_times($1, $2, $3)', [endpoints, now, policy.endpointConcurrency]);
  await tx.query(`notify ${DUE_CHANNEL}`);
}
