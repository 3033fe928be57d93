/**
 * What the clock does to a review.
 *
 * E1. A deadline is judged when somebody looks, by the database's time; at the very instant it has passed. Nothing waits for a sweeper.
 * E2. What fell due is dated when it fell due, so two readers at different times see the same settled review (decision 25).
 * E3. Where both ends passed, they happened in their order: a wait for changes that ended first reopened the review first.
 * E4. The clock never approves what a person sent back: a review that still waits for changes at its deadline is rejected or expires.
 */
import type { ReviewDecided, ReviewEvent } from '@countersign/contracts';
import type { Decision, StoredEvent } from '@countersign/event-store';
import type { ReviewRefusal } from '../refusals.js';
import { evolve, isOpen } from '../review.js';
import { addSeconds, effectiveDeadline, reached, reminderSeconds, secondsBetween } from '../rules/deadline.js';
import type { OpenReview, RequestedReview, ReviewState } from '../state.js';

/** What a decider of reviews answers. No events and no refusal: already so, the repeat of a command (K9). */
export type Judged = Decision<ReviewEvent, ReviewRefusal['code']>;

/** Due rows of a review, one of each kind (K7). */
export const TIMERS = ['timeout', 'changes_timeout', 'reminder'] as const;
export type ReviewTimer = (typeof TIMERS)[number];

/** State after events that are not stored yet. */
export function foresee(state: ReviewState, stream: { id: string; project_id: string }, events: ReviewEvent[], now: string): ReviewState {
  return events.reduce<ReviewState>((before, event) => {
    const stored = { ...event, stream: stream.id, project: stream.project_id, time: now, redacted: false } as StoredEvent<ReviewEvent>;
    return evolve(before, stored);
  }, state);
}

/** What no person decided. */
export function decidedBySystem(
  review: Pick<RequestedReview, 'current_version' | 'payload' | 'payload_digest' | 'held_by'>,
  said: Pick<ReviewDecided, 'decision' | 'trigger' | 'decided_by'> & Partial<ReviewDecided>,
): ReviewEvent {
  const approved = said.decision === 'approved';
  return {
    type: 'review.decided',
    body: {
      version: review.current_version,
      acted_by: null,
      proof: null,
      after_seconds: null,
      action: null,
      shown: null,
      approved_value: approved ? review.payload : null,
      approved_digest: approved ? review.payload_digest : null,
      edited_payload: null,
      changed_keys: [],
      feedback: null,
      prompt_edit: null,
      held_by: review.held_by,
      ...said,
    },
  };
}

function ended(review: OpenReview, timeout: NonNullable<OpenReview['timeout']>): ReviewEvent {
  const { seconds: after_seconds, action } = timeout;
  if (action === 'expire' || (action === 'auto_approve' && review.status === 'awaiting_iteration')) {
    return { type: 'review.expired', body: { timeout_action: action, after_seconds } };
  }
  const decision = action === 'auto_approve' ? 'approved' : 'rejected';
  return decidedBySystem(review, {
    decision,
    trigger: 'timeout',
    decided_by: { kind: 'system', id: 'system:timeout' },
    after_seconds,
  });
}

/** The next thing that fell due by `now`, and when. */
function nextLapse(state: ReviewState, now: string): { event: ReviewEvent; at: string } | null {
  if (!isOpen(state)) return null;
  const deadline = effectiveDeadline(state);
  if (state.status === 'awaiting_iteration' && reached(state.changes.deadline, now)) {
    const { deadline: at, timeout_seconds } = state.changes;
    if (deadline === null || at < deadline) {
      // A wait with an end has a length: both are null, or neither.
      const body = { version: state.current_version, after_seconds: timeout_seconds as number };
      return { event: { type: 'review.changes_timed_out', body }, at };
    }
  }
  if (state.timeout === null || !reached(deadline, now)) return null;
  return { event: ended(state, state.timeout), at: deadline };
}

export interface Settled {
  state: ReviewState;
  /** What fell due and is not recorded yet. */
  events: ReviewEvent[];
  /** When the last of them fell due. */
  at?: string;
}

/** The review as it stands at `now`, whoever has written what (E1). */
export function settle(state: ReviewState, now: string): Settled {
  const settled: Settled = { state, events: [] };
  for (let lapse = nextLapse(state, now); lapse !== null; lapse = nextLapse(settled.state, now)) {
    settled.state = foresee(settled.state, settled.state as RequestedReview, [lapse.event], lapse.at);
    settled.events.push(lapse.event);
    settled.at = lapse.at;
  }
  return settled;
}

/** Timers a change of state leaves without a purpose. */
export function purposeless(before: ReviewState, after: ReviewState): NonNullable<Judged['cancel']> {
  const { id: stream } = after as RequestedReview;
  if (isOpen(before) && !isOpen(after)) return TIMERS.map((kind) => ({ stream, kind }));
  return before.status === 'awaiting_iteration' && after.status === 'pending' ? [{ stream, kind: 'changes_timeout' }] : [];
}

/** Records what fell due, and nothing else. */
function recordLapses(state: ReviewState, settled: Settled): Judged {
  const { events, at } = settled;
  if (events.length === 0) return { events };
  return { events, cancel: purposeless(state, settled.state), notBefore: at };
}

/** `notYet`: the timer came early; it is due then. */
export type TimerDecision = Judged & { notYet?: string };

/**
 * What a due row leads to. No events and no `notYet`: it has no purpose any more. Events are the row's own, or leave it without a purpose: what
 * fell due beside it and leaves it one waits for its own row, since a row that led to events is gone.
 */
export function elapse(timer: ReviewTimer, state: ReviewState, now: string): TimerDecision {
  const settled = settle(state, now);
  const { state: review } = settled;
  if (!isOpen(review)) return recordLapses(state, settled);
  switch (timer) {
    case 'timeout':
      return { events: [], notYet: effectiveDeadline(review) ?? undefined };
    case 'changes_timeout':
      return review.status === 'awaiting_iteration'
        ? { events: [], notYet: review.changes.deadline ?? undefined }
        : recordLapses(state, settled);
    case 'reminder':
      return remind(state, settled, review, now);
  }
}

/** The reminder, after what fell due before it. */
function remind(state: ReviewState, settled: Settled, review: OpenReview, now: string): TimerDecision {
  const deadline = effectiveDeadline(review);
  if (review.timeout === null || deadline === null || review.reminded_at !== null) return recordLapses(state, settled);
  const after_seconds = reminderSeconds(review.timeout.seconds);
  const due = addSeconds(review.created_at, after_seconds);
  if (!reached(due, now)) return { events: [], notYet: due };
  const body = { after_seconds, remaining_seconds: secondsBetween(now, deadline) };
  const { events, cancel = [] } = recordLapses(state, settled);
  const notBefore = settled.at !== undefined && settled.at > due ? settled.at : due;
  // With the append, as every other row goes: whoever fired it may never hear that it did.
  const spent = [...cancel, { stream: review.id, kind: 'reminder' }];
  return { events: [...events, { type: 'review.reminded', body }], cancel: spent, notBefore, notAfter: deadline };
}
