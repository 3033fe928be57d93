/**
 * Carries outcomes from the table into the log.
 *
 * O1 A settled row is marked unrecorded in the transaction that settles it, and unmarked after its event is in the log: a crash between
 *    loses nothing, and what is told twice is recorded once.
 * O2 Any process carries what any process settled.
 */
import { metaOf } from '@countersign/contracts';
import { type EventStore, handle, idOf } from '@countersign/event-store';
import { continuing } from '@countersign/telemetry';
import type { Pool } from 'pg';
import { traceOf } from '../worker/observed-attempt.js';
import { deliveryFold, type Outcome, recordOutcome } from './delivery.js';

const BATCH = 200;

interface Unrecorded {
  id: string;
  project: string;
  review: string;
  event_type: string;
  attempts: number;
  replays: number;
  status: 'delivered' | 'dead_lettered';
  dead_letter_reason: Extract<Outcome, { type: 'delivery.dead_lettered' }>['body']['reason'] | null;
  request_id: string | null;
  status_code: number | null;
  traceparent: string | null;
  tracestate: string | null;
}

export interface RecorderDeps {
  pool: Pool;
  /** As writer `webhooks`. */
  store: EventStore;
}

/** A settled row belongs to the process that settled it for this long; then anybody records it. */
const LEFT_BEHIND_SECONDS = 10;

/**
 * Records how deliveries ended.
 * @param which some by their uuids, all, or those a process left behind. Several processes asked for the same are no fault, only twice the work.
 */
export async function recordOutcomes(
  { pool, store }: RecorderDeps,
  which: { ids: readonly string[] } | 'all' | 'left_behind',
): Promise<void> {
  const chosen = typeof which === 'object' ? which.ids : null;
  for (;;) {
    const { rows } = await pool.query<Unrecorded>(
      `select d.id, d.project, d.review, d.event_type, d.attempts, d.replays, d.status, d.dead_letter_reason, d.request_id, d.traceparent,
         d.tracestate, a.status_code
       from webhooks.deliveries d left join webhooks.attempts a on a.delivery = d.id and a.number = d.attempts
       where d.unrecorded and d.status <> 'pending' and ($1::uuid[] is null or d.id = any($1))
         and ($2::int is null or d.settled_at < event_store.now() - make_interval(secs => $2))
       order by d.settled_at, d.sequence limit $3`,
      [chosen, which === 'left_behind' ? LEFT_BEHIND_SECONDS : null, BATCH],
    );
    if (rows.length === 0) return;
    const results = await Promise.allSettled(rows.map((row) => continuing(traceOf(row), () => record(store, row))));
    const done = rows.filter((_, index) => results[index]?.status === 'fulfilled');
    await pool.query(
      `update webhooks.deliveries d set unrecorded = false from unnest($1::uuid[], $2::int[]) as r (id, replays)
       where d.id = r.id and d.replays = r.replays and d.status <> 'pending'`,
      [done.map((row) => row.id), done.map((row) => row.replays)],
    );
    const failed = results.find((result) => result.status === 'rejected');
    if (failed) throw failed.reason;
  }
}

async function record(store: EventStore, row: Unrecorded): Promise<void> {
  const place = { stream: idOf('whd', row.id), project: idOf('prj', row.project) };
  const meta = metaOf({ actor: { kind: 'system', id: 'webhooks' }, request_id: row.request_id ?? undefined });
  const outcome = outcomeOf(row);
  // Nearly always this is the stream's first event; that it is, the append checks. Reading it first would double the work.
  if (row.replays === 0) {
    const first = await store.append({ streams: [{ ...place, expectedVersion: 0, events: [outcome] }], meta });
    if (first.status === 'appended') return;
  }
  await handle(store, { ...place, fold: deliveryFold, decide: (state) => recordOutcome(state, outcome), meta });
}

function outcomeOf(row: Unrecorded): Outcome {
  const about = { review_id: idOf('rev', row.review), event_type: row.event_type, attempts: row.attempts, replays: row.replays };
  if (row.status === 'delivered') return { type: 'delivery.succeeded', body: { ...about, status_code: row.status_code ?? 200 } };
  return {
    type: 'delivery.dead_lettered',
    body: { ...about, reason: row.dead_letter_reason ?? 'attempts_exhausted', status_code: row.attempts === 0 ? null : row.status_code },
  };
}
