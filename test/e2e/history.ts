/**
 * What was recorded against what arrived: the log says which webhooks a review's agent is owed (HRP §7.1, §13), and the receiver which came.
 * Told here once more, and not taken from the service that sends them.
 */
import { idOf } from '@countersign/event-store';
import type { Received } from '@countersign/testing';
import type { Server } from './server.js';

/** An event of a review that has a callback; `body` as it is stored. */
export interface Recorded {
  review: string;
  type: string;
  body: { decided_by?: { kind: string }; action?: { id: string } | null; webhook_event?: string | null };
}

/** Types of the webhooks an event is told by, in order. */
function told({ type, body }: Recorded): string[] {
  const named = body.webhook_event ?? null;
  switch (type) {
    case 'review.decided':
      return body.decided_by?.kind === 'person' ? ['review.action_taken', 'review.decided'] : ['review.decided'];
    case 'review.changes_requested':
      if (named === null && body.action?.id !== 'request_changes') return ['review.retried', `review.iteration_${body.action?.id}`];
      return ['review.retried', ...(named === null ? [] : [named])];
    case 'review.action_taken':
      return ['review.action_taken', ...(named === null ? [] : [named])];
    case 'review.iteration_cancelled':
      return ['review.action_taken'];
    case 'review.withdrawn':
      return ['review.expired'];
    case 'review.expired':
    case 'review.redeemed':
    case 'review.executed':
      return [type];
    default:
      return [];
  }
}

type Arrival = Pick<Received, 'headers' | 'body' | 'json'>;

/**
 * A copy of a delivery is allowed (at least once); it has the same bytes.
 * @param recorded in the order of each review.
 * @param arrivals in the order they came, copies included.
 * @returns a sentence for each review that was not told what it is owed, in order, and for each delivery that came with other bytes.
 */
export function differences(recorded: readonly Recorded[], arrivals: readonly Arrival[]): string[] {
  const owed = new Map<string, string[]>();
  for (const event of recorded) owed.set(event.review, [...(owed.get(event.review) ?? []), ...told(event)]);
  const came = new Map<string, string[]>();
  const firsts = new Map<string, Arrival>();
  const found: string[] = [];
  for (const arrival of arrivals) {
    const id = arrival.headers['x-webhook-id'] ?? '';
    const review = String(arrival.json.review_id);
    const first = firsts.get(id);
    if (first === undefined) {
      firsts.set(id, arrival);
      came.set(review, [...(came.get(review) ?? []), arrival.headers['x-webhook-event'] ?? '']);
    } else if (!first.body.equals(arrival.body)) found.push(`${id} of ${review} came again with other bytes`);
  }
  for (const review of new Set([...owed.keys(), ...came.keys()])) {
    const [due, got] = [owed, came].map((types) => types.get(review)?.join(', ') || 'nothing');
    if (due !== got) found.push(`${review} is owed ${due}; there came ${got}`);
  }
  return found;
}

/** Everything recorded so far, of reviews with a callback, against everything that has arrived so far. */
export async function historyDifferences({ topology, receiver }: Server): Promise<string[]> {
  const recorded = await topology.query<Recorded>(
    `select e.stream as review, e.type, e.body::json as body from event_store.events e
     join event_store.events r on r.stream = e.stream and r.type = 'review.requested' and r.body::json ->> 'callback_url' is not null
     where e.category = 'review' order by e.stream, e.version`,
  );
  const named = recorded.map((event) => ({ ...event, review: idOf('rev', event.review) }));
  return differences(named, receiver.received);
}
