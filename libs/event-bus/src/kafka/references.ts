/** Bodies too large for a message are read from the store, one at a time, and must be the ones the message named (K12). */

import type { EventStore, StoredEvent } from '@countersign/event-store';
import { digest } from '@countersign/evidence';
import type { ReceivedEvent } from './message.js';

export async function fetchReferences(store: Pick<EventStore, 'readAll'>, received: readonly ReceivedEvent[]): Promise<StoredEvent[]> {
  const events: StoredEvent[] = [];
  for (const { event, reference } of received) events.push(reference === null ? event : await fetchBody(store, event, reference));
  return events;
}

async function fetchBody(store: Pick<EventStore, 'readAll'>, event: StoredEvent, reference: string): Promise<StoredEvent> {
  const [stored] = await store.readAll({ after: event.position - 1, limit: 1 });
  if (stored?.id !== event.id) throw new Error(`Position ${event.position} of the store does not hold ${event.id}.`);
  if (!stored.redacted && digest(stored.body) !== reference) {
    throw new Error(`The body at position ${event.position} is not the one its message refers to.`);
  }
  return stored;
}
