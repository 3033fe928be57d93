/**
 * Carries outcomes from the table into the log.
 *
 * O1 A settled row is marked unrecorded in the transaction that settles it, and unmarked after its event is in the log: a crash between
 *    loses nothing, and what is told twice is recorded once.
 * O2 Any process carries what any process settled.
 */
import { type EventStore, handle, idOf } from '@countersign/event-store';
import type { Logger } from '@countersign/telemetry';
import type { Pool } from 'pg';
import { deliveryFold, type Outcome, recordOutcome } from './delivery.js';

const BATCH = 200;

interface Unrecorded {
  id: string;
  project: string;
  review: string;
  event_type: string;
  attempts: number;
  replays: number;
  status: 'delivered' | 'failed';
  dead_reason: Extract<Outcome, { type: 'delivery.dead_lettered' }>['body']['reason'] | null;
  request_id: string | null;
  status_code: number | null;
}

export interface RecorderDeps {
  pool: Pool;
  /** As writer `webhooks`. */
  store: EventStore;
  logger: Logger;
}

/** Records everything that is not recorded yet. @returns how many there were. */
export async function recordOutcomes({ pool, store, logger }: RecorderDeps): Promise<number> {
  let recorded = 0;
  for (;;) {
    const { rows } = await pool.query<Unrecorded>(
      `select d.id, d.project, d.review, d.event_type, d.attempts, d.replays, d.status, d.dead_reason, d.request_id, a.status_code
       from webhooks.deliveries d left join webhooks.attempts a on a.delivery = d.id and a.number = d.attempts
       where d.unrecorded and d.status <> 'pending' order by d.settled_at limit $1`,
      [BATCH],
    );
    const done = await Promise.all(rows.map((row) => record(store, row)));
    await pool.query(
      `update webhooks.deliveries d set unrecorded = false from unnest($1::uuid[], $2::int[]) as r (id, replays)
       where d.id = r.id and d.replays = r.replays and d.status <> 'pending'`,
      [rows.map((row) => row.id), rows.map((row) => row.replays)],
    );
    recorded += done.filter((appended) => appended).length;
    if (rows.length < BATCH) break;
  }
  if (recorded > 0) logger.debug({ recorded }, 'delivery outcomes recorded');
  return recorded;
}

async function record(store: EventStore, row: Unrecorded): Promise<boolean> {
  const { events } = await handle(store, {
    stream: idOf('whd', row.id),
    project: idOf('prj', row.project),
    fold: deliveryFold,
    decide: (state) => recordOutcome(state, outcomeOf(row)),
    meta: { actor: { kind: 'system', id: 'system:webhooks' }, request_id: row.request_id ?? undefined },
  });
  return events.length > 0;
}

function outcomeOf(row: Unrecorded): Outcome {
  const about = { review_id: idOf('rev', row.review), event_type: row.event_type, attempts: row.attempts, replays: row.replays };
  if (row.status === 'delivered') return { type: 'delivery.succeeded', body: { ...about, status_code: row.status_code ?? 200 } };
  return {
    type: 'delivery.dead_lettered',
    body: { ...about, reason: row.dead_reason ?? 'attempts_exhausted', status_code: row.attempts === 0 ? null : row.status_code },
  };
}
