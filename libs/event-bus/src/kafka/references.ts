/**
 * Bodies too large for a message are read from the store, one at a time (K12).
 *
 * The store is the truth and a message only says where to look. One that names another event, or another body, than the store has is none of
 * this database's relay: nothing of its page is believed, and consumers read the events from the store. A body that was redacted since is
 * what the store says now; its digest can prove nothing.
 */

import type { EventStore, StoredEvent } from '@countersign/event-store';
import { digest } from '@countersign/evidence';
import type { ReceivedEvent } from './message.js';

/** A message contradicts the store. */
export class StrangeMessageError extends Error {
  override readonly name = 'StrangeMessageError';
}

/** @throws {StrangeMessageError} */
export async function fetchReferences(store: Pick<EventStore, 'readAll'>, received: readonly ReceivedEvent[]): Promise<StoredEvent[]> {
  const events: StoredEvent[] = [];
  for (const { event, reference } of received) events.push(reference === null ? event : await fetchBody(store, event, reference));
  return events;
}

async function fetchBody(store: Pick<EventStore, 'readAll'>, event: StoredEvent, reference: string): Promise<StoredEvent> {
  const [stored] = await store.readAll({ after: event.position - 1, limit: 1 });
  if (stored?.id !== event.id) throw new StrangeMessageError(`Position ${event.position} of the store does not hold ${event.id}.`);
  if (!stored.redacted && digest(stored.body) !== reference) {
    throw new StrangeMessageError(`The body at position ${event.position} is not the one its message refers to.`);
  }
  return stored;
}
