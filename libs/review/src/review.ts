/**
 * How facts become the state of a review.
 *
 * R1. Total: any prefix of a stream evolves, erased bodies included (K4). A fact that cannot follow the state it meets changes nothing.
 * R2. What the clock does is dated when it fell due, from the facts before it, and never from when it was written (decision 25).
 * R3. A type this code does not know is not skipped: what it means for a decision is unknown (K10).
 */
import { type Hold, type PersonRef, REVIEW_EVENTS, type ReviewDecided, type ReviewEvent } from '@countersign/contracts';
import { type Fold, isRedaction, type StoredEvent, UnknownEventError } from '@countersign/event-store';
import { addSeconds, effectiveDeadline } from './rules/deadline.js';
import type {
  Act,
  Archived,
  AwaitingIteration,
  ChangeRequest,
  Decided,
  Expired,
  OpenReview,
  Pending,
  RequestedReview,
  ReviewRecord,
  ReviewState,
} from './state.js';

type Stored = StoredEvent<ReviewEvent>;
type StoredOf<T extends ReviewEvent['type']> = Extract<Stored, { type: T }>;

export const initial = (): ReviewState => ({ status: 'none' });

/** Somebody as a hold or an actor is shown on the wire. */
export const refOf = (person: Pick<PersonRef, 'email'>): string => `reviewer:${person.email}`;
export const holdOf = (person: PersonRef): Hold => ({ ref: refOf(person), person_id: person.id });

export const isOpen = (state: ReviewState): state is OpenReview => state.status === 'pending' || state.status === 'awaiting_iteration';

const named = (people: readonly (string | null)[]): string[] => [...new Set(people.filter((id) => id !== null))];

function requested(event: StoredOf<'review.requested'>): Pending {
  const { timeout, requester, on_behalf_of } = event.body;
  return {
    ...event.body,
    status: 'pending',
    id: event.stream,
    project_id: event.project,
    assignee_id: event.body.assignee_id ?? null,
    current_version: 1,
    expires_at: timeout === null ? null : addSeconds(event.time, timeout.seconds),
    answerable: named([requester.owner, on_behalf_of?.person_id ?? null, ...(requester.former_owners ?? [])]),
    feedback: null,
    prompt_edit: null,
    last_act: null,
    drafts_void_at: null,
    held_by: null,
    held_at: null,
    hold_lost_by: null,
    reminded_at: null,
    late_attempts: [],
    created_at: event.time,
    updated_at: event.time,
  };
}

function actOf(event: StoredOf<'review.changes_requested' | 'review.action_taken' | 'review.iteration_cancelled'>): Act {
  const { action, by, shown, feedback, edited_payload } = event.body;
  return { action, by, at: event.time, shown, feedback, edited_payload, standing: true };
}

const undone = (act: Act | null): Act | null => act && { ...act, standing: false };

/** What every status shares, without what only the one before had. */
function record(state: RequestedReview): ReviewRecord {
  const {
    status: _s,
    changes: _c,
    outcome: _o,
    archived_at: _t,
    archived_by: _b,
    ...rest
  } = state as RequestedReview & Record<string, unknown>;
  return rest as unknown as ReviewRecord;
}

/** With a person again, and nothing asked of the agent. */
function reopened(state: AwaitingIteration, at: string, last_act: Act | null): Pending {
  return { ...record(state), status: 'pending', feedback: null, prompt_edit: null, last_act, updated_at: at };
}

/** Nobody holds what is settled. */
const released = { held_by: null, held_at: null, hold_lost_by: null };

/** What was open when it was settled: the words of a decision take the place of those of the request. */
function unanswered(state: OpenReview): Pick<ReviewRecord, 'unanswered'> {
  const request = openRequest(state);
  return request ? { unanswered: request } : {};
}

/** The request for changes the agent has not answered. */
export function openRequest(state: RequestedReview): ChangeRequest | undefined {
  if (state.status !== 'awaiting_iteration') return state.unanswered;
  const { deadline: _d, timeout_seconds: _t, ...request } = state.changes;
  return { feedback: state.feedback, ...request };
}

function decided(state: OpenReview, body: ReviewDecided, time: string): Decided {
  const at = body.trigger === 'timeout' ? (effectiveDeadline(state) ?? time) : time;
  const { feedback, prompt_edit, after_seconds: _, ...said } = body;
  const by = said.decided_by.kind === 'person' ? said.decided_by : said.acted_by;
  return {
    ...record(state),
    ...released,
    ...unanswered(state),
    status: 'decided',
    outcome: { kind: 'decided', ...said, decided_at: at, redemption: null, executions: [] },
    feedback,
    prompt_edit,
    last_act:
      by && said.action && said.shown
        ? { action: said.action, by, at, shown: said.shown, feedback, edited_payload: said.edited_payload, standing: true }
        : undone(state.last_act),
    updated_at: at,
  };
}

function expired(state: OpenReview, at: string, withdrawal: Expired['outcome']['withdrawal']): Expired {
  return {
    ...record(state),
    ...released,
    ...unanswered(state),
    status: 'expired',
    outcome: { kind: 'expired', expired_at: at, withdrawal },
    last_act: undone(state.last_act),
    updated_at: at,
  };
}

function evolveOpen(state: OpenReview, event: Stored): RequestedReview {
  const at = event.time;
  switch (event.type) {
    case 'review.decided':
      return decided(state, event.body, at);
    case 'review.expired':
      return expired(state, effectiveDeadline(state) ?? at, null);
    case 'review.withdrawn':
      return expired(state, at, { by: event.body.by, reason: event.body.reason });
    case 'review.changes_requested': {
      const { by, feedback, prompt_edit, edited_payload, changes_timeout_seconds: timeout_seconds } = event.body;
      const deadline = timeout_seconds === null ? null : addSeconds(at, timeout_seconds);
      const suggested = edited_payload === null ? {} : { edited_payload };
      const changes = { requested_at: at, requested_by: by, ...suggested, deadline, timeout_seconds };
      const asked = { changes, feedback, prompt_edit, last_act: actOf(event), drafts_void_at: at };
      return { ...record(state), status: 'awaiting_iteration', ...asked, updated_at: at };
    }
    case 'review.action_taken':
      return { ...state, last_act: actOf(event), updated_at: at };
    case 'review.claimed':
      return { ...state, held_by: holdOf(event.body.by), held_at: at, hold_lost_by: event.body.previous, updated_at: at };
    case 'review.released':
      return { ...state, ...released, updated_at: at };
    case 'review.assigned': {
      const { assignee, assignee_id = null, hold } = event.body;
      const held = hold && { held_by: hold, held_at: at, hold_lost_by: state.held_by };
      return { ...state, ...held, assignee, assignee_id, updated_at: at };
    }
    case 'review.unassigned': {
      const { previous_assignee, holder } = event.body;
      const nobody = previous_assignee !== null && { assignee: null, assignee_id: null };
      return { ...state, ...nobody, ...(holder && released), updated_at: at };
    }
    case 'review.reminded':
      return { ...state, reminded_at: at, updated_at: at };
    default:
      return state.status === 'awaiting_iteration' ? evolveAwaiting(state, event) : state;
  }
}

function evolveAwaiting(state: AwaitingIteration, event: Stored): RequestedReview {
  switch (event.type) {
    case 'review.resubmitted': {
      const { version: current_version, payload, payload_digest, owner, former_owners = [] } = event.body;
      const answerable = named([...state.answerable, owner, ...former_owners]);
      return {
        ...reopened(state, event.time, undone(state.last_act)),
        current_version,
        payload,
        payload_digest,
        answerable,
        drafts_void_at: event.time,
      };
    }
    case 'review.iteration_cancelled':
      return { ...reopened(state, event.time, actOf(event)), drafts_void_at: event.time };
    case 'review.changes_timed_out':
      return reopened(state, state.changes.deadline ?? event.time, undone(state.last_act));
    default:
      return state;
  }
}

/** What happens to an approval outlives archiving. */
function evolveOutcome(state: Decided | Expired | Archived, event: Stored): RequestedReview {
  if (state.outcome.kind !== 'decided') return state;
  const at = event.time;
  switch (event.type) {
    case 'review.redeemed': {
      const { redemption_id: id, digest: redeemed, executor, by } = event.body;
      const redemption = { id, digest: redeemed, executor, redeemed_at: at, by };
      return { ...state, outcome: { ...state.outcome, redemption }, updated_at: at } as RequestedReview;
    }
    case 'review.executed': {
      const { execution_id: id, ...said } = event.body;
      const executions = [...state.outcome.executions, { id, ...said, executed_at: at }];
      return { ...state, outcome: { ...state.outcome, executions }, updated_at: at } as RequestedReview;
    }
    default:
      return state;
  }
}

function evolveSettled(state: Decided | Expired | Archived, event: Stored): RequestedReview {
  if (event.type === 'review.archived' && state.status !== 'archived') {
    return { ...state, status: 'archived', archived_at: event.time, archived_by: event.body.by, updated_at: event.time };
  }
  if (event.type === 'review.unarchived' && state.status === 'archived') {
    const { outcome } = state;
    const updated_at = event.time;
    return outcome.kind === 'decided'
      ? { ...record(state), status: 'decided', outcome, updated_at }
      : { ...record(state), status: 'expired', outcome, updated_at };
  }
  return evolveOutcome(state, event);
}

/** @throws {UnknownEventError} (R3) */
export function evolve(state: ReviewState, event: Stored): ReviewState {
  if (state.status === 'none' && state.erased) return state;
  if (isRedaction(event)) return { status: 'none', erased: true };
  if (!Object.hasOwn(REVIEW_EVENTS, event.type)) throw new UnknownEventError(event);
  if (event.body === null) return state.status === 'none' ? { status: 'none', erased: true } : state;
  if (state.status === 'none') return event.type === 'review.requested' ? requested(event) : state;
  if (event.type === 'review.late_attempt_refused') {
    const { by, attempt, action_id } = event.body;
    return { ...state, late_attempts: [...state.late_attempts, { by, attempt, action_id }] };
  }
  return isOpen(state) ? evolveOpen(state, event) : evolveSettled(state, event);
}

export const reviewFold: Fold<ReviewState, ReviewEvent> = { initial, evolve };
