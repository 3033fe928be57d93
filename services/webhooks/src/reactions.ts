import type { DeliveryEvent, ReviewEvent } from '@countersign/contracts';
import { type BatchContext, traceOf } from '@countersign/event-bus';
import { type EventStore, type StoredEvent, uuidOf } from '@countersign/event-store';
import { evolve, initial } from '@countersign/review';
import { bodiesOf } from './message/bodies.js';
import { bodyText } from './message/body-text.js';
import { deliveryUuid } from './message/delivery-ids.js';
import { enqueue, type NewDelivery, type QueuePolicy } from './queue/queue.js';

/**
 * Queues what agents are to be told of these events, in the transaction that moves the cursor: an event and its deliveries are one step.
 * A review without a callback has nobody to tell; a replay of the log tells nobody again.
 */
export async function queueDeliveries(
  { store, config }: { store: EventStore; config: QueuePolicy & { publicUrl: string } },
  events: readonly StoredEvent[],
  context: BatchContext,
): Promise<void> {
  if (context.replay) return;
  const deliveries = new Map<string, NewDelivery[]>();
  for (const stream of new Set(events.map((event) => event.stream))) {
    const wanted = events.filter((event) => event.stream === stream);
    for (const [id, made] of await deliveriesOf(store, stream, wanted, config.publicUrl)) deliveries.set(id, made);
  }
  await enqueue(
    context.tx,
    events.flatMap((event) => deliveries.get(event.id) ?? []),
    config,
  );
}

/** The deliveries of some events of one review, by the event's id: each body is made of the review as it stood then. */
async function deliveriesOf(
  store: EventStore,
  stream: string,
  wanted: readonly StoredEvent[],
  publicUrl: string,
): Promise<Map<string, NewDelivery[]>> {
  const upToVersion = Math.max(...wanted.map((event) => event.version));
  const { events } = await store.readStream<ReviewEvent>(stream, { upToVersion });
  const ids = new Set(wanted.map((event) => event.id));
  const traces = new Map(wanted.map((event) => [event.id, traceOf(event)]));
  const made = new Map<string, NewDelivery[]>();
  let state = initial();
  for (const event of events) {
    state = evolve(state, event);
    if (!ids.has(event.id) || state.status === 'none' || state.callback_url === null) continue;
    const url = state.callback_url;
    made.set(
      event.id,
      bodiesOf(state, event).map((told, place) => ({
        id: deliveryUuid(event.id, told.event_type, place),
        project: uuidOf(event.project),
        review: uuidOf(stream),
        event_type: told.event_type,
        url,
        body: bodyText(told, publicUrl),
        request_id: event.meta.request_id ?? null,
        ...traces.get(event.id),
      })),
    );
  }
  return made;
}

/**
 * Notes replays the log tells of. The process that records them also puts them in line, together and in order; a note that stays is what
 * a process left that died between (queue/requeue.ts).
 */
export async function noteReplays(events: readonly StoredEvent[], context: BatchContext): Promise<void> {
  if (context.replay) return;
  const replayed = events as StoredEvent<Extract<DeliveryEvent, { type: 'delivery.replayed' }>>[];
  await context.tx.query(
    `update webhooks.deliveries d set replay_told = r.replay, replay_told_at = r.told_at
     from (select distinct on (id) * from unnest($1::uuid[], $2::int[], $3::timestamptz[]) as r (id, replay, told_at) order by id, replay desc) r
     where d.id = r.id and d.replay_told < r.replay`,
    [replayed.map((event) => uuidOf(event.stream)), replayed.map((event) => event.body.replay), replayed.map((event) => event.time)],
  );
}

/**
 * Takes away what is kept of reviews that were erased (K4). In their order after what queued it, and whatever is read of an erased stream
 * later makes no body: nothing of it comes back. A replay of the log finds nothing more to take.
 */
export async function forgetErased(
  { config }: { config: QueuePolicy },
  events: readonly StoredEvent[],
  { tx }: Pick<BatchContext, 'tx'>,
): Promise<void> {
  const reviews = events.filter((event) => event.category === 'review').map((event) => uuidOf(event.stream));
  if (reviews.length > 0) await tx.query('select webhooks.erase($1, $2)', [reviews, config.endpointConcurrency]);
}
