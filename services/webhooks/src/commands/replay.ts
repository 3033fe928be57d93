import { type Actor, actorRef, type DeliveryReplay, metaOf } from '@countersign/contracts';
import { inTransaction } from '@countersign/database';
import { type EventStore, handle, idOf, type Refusal } from '@countersign/event-store';
import type { Pool } from 'pg';
import type { Parts } from '../deps.js';
import { type DeadLetter, deadLetters, readDelivery } from '../log/deliveries.js';
import { deliveryFold, replay } from '../outcome/delivery.js';
import { recordOutcomes } from '../outcome/recorder.js';
import { expedite, requeue } from '../queue/requeue.js';

export interface Caller {
  actor: Exclude<Actor, { kind: 'anonymous' }>;
  request_id: string;
}

/** Where the replay stands in the log; position 0 when nothing was recorded. */
export interface Queued {
  seen: { position: number; events: readonly { bucket: number }[] };
  queuedAt: string;
}

type RetryRefusal = Refusal<'delivery_not_found' | 'already_delivered' | 'delivery_erased' | 'delivery_claimed'>;

const NOT_FOUND: RetryRefusal = { code: 'delivery_not_found', message: 'No such delivery in this project.' };
const TESTED: RetryRefusal = {
  code: 'delivery_not_found',
  message: 'A test event is sent only once. Send another with POST /webhooks/test.',
};
const ARRIVED: RetryRefusal = { code: 'already_delivered', message: 'Already delivered.' };
const ERASED: RetryRefusal = { code: 'delivery_erased', message: 'The review was erased; its delivery can no longer be sent.' };
const RUNNING: RetryRefusal = { code: 'delivery_claimed', message: 'The delivery is being attempted now.' };

/** Sends one delivery again at once: a dead letter from the start of its delays, one that waits without waiting. */
export async function retryDelivery(parts: Parts, caller: Caller, id: string): Promise<Queued | RetryRefusal> {
  const found = await readDelivery(parts.pool, caller.actor.project_id, id);
  if (!found) return NOT_FOUND;
  const { id: uuid, review, event_type, status, body } = found.row;
  if (review === null) return TESTED;
  if (status === 'pending') {
    if (!(await expedite(parts.pool, uuid, parts.config))) return RUNNING;
    return { seen: { position: 0, events: [] }, queuedAt: await databaseTime(parts.pool) };
  }
  if (status === 'delivered') return ARRIVED;
  if (body === null) return ERASED;
  // Its end may be written in the table and not yet in the log, which decides.
  await recordOutcomes(parts, { ids: [uuid] });
  const replayed = await recordReplay(parts.store, caller, { id: uuid, review, event_type });
  if (replayed.refusal) return replayed.refusal as RetryRefusal;
  await inTransaction(parts.pool, (tx) => requeue(tx, replayed.replays, { ...parts.config, expedited: true }));
  return { seen: replayed, queuedAt: replayed.now };
}

const PAGE = 200;
/** Most dead letters one request puts back in line. */
const MOST_REPLAYED = 10_000;

/** Sends a project's dead letters again, in the order they were first sent. */
export async function replayDeliveries(parts: Parts, caller: Caller, filter: DeliveryReplay): Promise<Queued & { queued: number }> {
  await recordOutcomes(parts, 'all');
  const started = await databaseTime(parts.pool);
  let seen: Queued['seen'] = { position: 0, events: [] };
  let queued = 0;
  let after = 0;
  for (;;) {
    const page = await deadLetters(parts.pool, caller.actor.project_id, filter, { limit: PAGE, after, until: new Date(started) });
    const replayed = await Promise.all(page.map((letter) => recordReplay(parts.store, caller, letter)));
    const replays = replayed.flatMap((one) => one.replays);
    await inTransaction(parts.pool, (tx) => requeue(tx, replays, { ...parts.config, expedited: false }));
    queued += replays.length;
    seen = replayed.reduce((last, one) => (one.position > last.position ? one : last), seen);
    after = page.at(-1)?.sequence ?? after;
    if (page.length < PAGE || queued >= MOST_REPLAYED) return { seen, queued, queuedAt: started };
  }
}

async function recordReplay(store: EventStore, caller: Caller, letter: DeadLetter) {
  const command = { review_id: idOf('rev', letter.review), event_type: letter.event_type, by: actorRef(caller.actor) };
  const handled = await handle(store, {
    stream: idOf('whd', letter.id),
    project: caller.actor.project_id,
    fold: deliveryFold,
    decide: (state) => replay(state, command),
    meta: metaOf(caller),
  });
  return { ...handled, replays: handled.events.length > 0 ? [{ id: letter.id, replay: handled.state.replays }] : [] };
}

async function databaseTime(pool: Pool): Promise<string> {
  const { rows } = await pool.query<{ now: Date }>('select event_store.now() as now');
  return (rows[0] as { now: Date }).now.toISOString();
}
