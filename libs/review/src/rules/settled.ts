import type { ReviewEvent } from '@countersign/contracts';
import type { Handled, StoredEvent } from '@countersign/event-store';
import { count, record, telemetryOn } from '@countersign/telemetry';
import type { DecidedOutcome, ExpiredOutcome, ReviewState } from '../state.js';

const SETTLING: ReadonlySet<string> = new Set<ReviewEvent['type']>(['review.decided', 'review.expired', 'review.withdrawn']);

/** When a review ended: at its deadline where it had one that passed, whenever that was recorded (decision 25). */
export function settledAt(outcome: DecidedOutcome | ExpiredOutcome): string {
  return outcome.kind === 'decided' ? outcome.decided_at : outcome.expired_at;
}

/** Counts a review that a command has settled, and how long it took from its request. */
export function measureSettled({ state, events }: Pick<Handled<ReviewState>, 'state'> & { events: readonly StoredEvent[] }): void {
  if (!telemetryOn() || !('outcome' in state) || !events.some((event) => SETTLING.has(event.type))) return;
  const { outcome, created_at, priority } = state;
  const decided = outcome.kind === 'decided';
  const name = decided ? outcome.decision : outcome.withdrawal ? 'withdrawn' : 'expired';
  const actor = decided ? outcome.decided_by.kind : outcome.withdrawal ? 'agent' : 'system';
  const ms = Date.parse(settledAt(outcome)) - Date.parse(created_at);
  count('decisions', { 'countersign.review.outcome': name, 'countersign.actor.kind': actor });
  record('timeToDecide', Math.max(0, ms) / 1_000, { 'countersign.review.outcome': name, 'countersign.review.priority': priority });
}
