import type { EventStore } from '@countersign/event-store';
import { elapse, onReview, type ReviewTimer } from '@countersign/review';
import type { DueOutcome, DueTimer } from '@countersign/timers';

/**
 * A due row is a command like any other: the rules judge it by the database's time and may find that it came early or has no purpose any more.
 * Its id is that of the row's generation, so a timer that two processes fire takes effect once (K9).
 */
export async function fireTimer(store: EventStore, timer: Pick<DueTimer, 'stream' | 'kind' | 'generation'>): Promise<DueOutcome> {
  let early = false;
  const { events, repeated } = await onReview(store, {
    review_id: timer.stream,
    actor: null,
    command_id: `timer:${timer.stream}:${timer.kind}:${timer.generation}`,
    decide: (state, now) => {
      const decision = elapse(timer.kind as ReviewTimer, state, now);
      early = decision.notYet !== undefined;
      return decision;
    },
  });
  if (events.length > 0 || repeated) return 'fired';
  return early ? 'not_due' : 'gone';
}
