/**
 * What an agent is told, as a pure function of the review after an event and that event (HRP §7.1, §13).
 *
 * W1 The keys are exact and their order is stable: the text made of a body here is what is sent on every attempt.
 * W2 A person's decision is told twice, `review.action_taken` and then `review.decided`; what no person decided is told once.
 * W3 Times are the review's: something that fell due is dated when it did, whenever it was written down (decision 25).
 */
import type {
  PersonRef,
  ReviewActionTakenWebhook,
  ReviewDecidedWebhook,
  ReviewEvent,
  ReviewExecutedWebhook,
  ReviewExpiredWebhook,
  ReviewIterationWebhook,
  ReviewRedeemedWebhook,
  ReviewRetriedWebhook,
  WebhookActor,
} from '@countersign/contracts';
import type { StoredEvent } from '@countersign/event-store';
import { actionNames, type DecidedOutcome, type ReviewState } from '@countersign/review';

export interface Told {
  /** Value of `X-Webhook-Event`. */
  event_type: string;
  body:
    | ReviewDecidedWebhook
    | ReviewActionTakenWebhook
    | ReviewRetriedWebhook
    | ReviewIterationWebhook
    | ReviewExpiredWebhook
    | ReviewRedeemedWebhook
    | ReviewExecutedWebhook;
}

type Review = Exclude<ReviewState, { status: 'none' }>;
type Stored<T extends ReviewEvent['type']> = Extract<StoredEvent<ReviewEvent>, { type: T }>;

/** Events a body is made of. */
export const TOLD_EVENTS = [
  'review.decided',
  'review.changes_requested',
  'review.action_taken',
  'review.iteration_cancelled',
  'review.expired',
  'review.withdrawn',
  'review.redeemed',
  'review.executed',
] as const satisfies ReviewEvent['type'][];

/** @param state the review up to and including `event`. */
export function bodiesOf(state: ReviewState, event: StoredEvent<ReviewEvent>): Told[] {
  if (state.status === 'none' || event.redacted) return [];
  switch (event.type) {
    case 'review.decided':
      return [...(event.body.decided_by.kind === 'person' ? [actionTaken(state, event)] : []), decided(state, event)];
    case 'review.changes_requested':
      return iteration(state, event);
    case 'review.action_taken':
      return [actionTaken(state, event), ...named(state, event, event.body.webhook_event)];
    case 'review.iteration_cancelled':
      return [actionTaken(state, event)];
    case 'review.expired':
      return [expired(state, { timeout_action: event.body.timeout_action })];
    case 'review.withdrawn': {
      const { reason } = event.body;
      return [expired(state, { timeout_action: null, withdrawn: true, ...(reason === null ? {} : { reason }) })];
    }
    case 'review.redeemed':
      return [redeemed(state, event)];
    case 'review.executed':
      return [executed(state, event)];
    default:
      return [];
  }
}

function decided(state: Review, event: Stored<'review.decided'>): Told {
  const { decision, trigger, decided_by, approved_value, approved_digest, edited_payload, feedback, prompt_edit } = event.body;
  const { action_value, action_label } = namesOf(state);
  return {
    event_type: 'review.decided',
    body: {
      type: 'review.decided',
      review_id: state.id,
      decision,
      decided_at: outcomeTime(state, event.time),
      was_edited: decision === 'edited',
      ...(trigger === 'timeout' ? {} : { suggested_value: state.payload }),
      ...(approved_value === null ? {} : { approved_value }),
      ...(edited_payload === null ? {} : { edited_payload }),
      ...(feedback === null ? {} : { feedback }),
      ...(decided_by.kind === 'person' ? { reviewer: decided_by.email, reviewer_id: decided_by.id } : {}),
      ...(prompt_edit === null ? {} : { prompt_edit }),
      ...(action_value === null ? {} : { action_value }),
      ...(action_label === null ? {} : { action_label }),
      ...(trigger === 'auto_approve' ? { auto_approved: true as const } : {}),
      iteration_count: state.current_version - 1,
      payload_digest: state.payload_digest,
      approved_digest,
    },
  };
}

function namesOf(state: Review): ReturnType<typeof actionNames> {
  const decidedNow = 'outcome' in state && state.outcome.kind === 'decided';
  return decidedNow ? actionNames(state.outcome as DecidedOutcome) : { action_value: null, action_label: null };
}

function actionTaken(state: Review, event: Stored<'review.decided' | 'review.action_taken' | 'review.iteration_cancelled'>): Told {
  const { action, feedback, edited_payload } = event.body;
  const by = event.type === 'review.decided' ? (event.body.decided_by as PersonRef) : event.body.by;
  const { id, label, kind } = action ?? { id: 'unknown', label: 'Unknown', kind: 'decision' as const };
  const body: ReviewActionTakenWebhook = {
    event: 'review.action_taken',
    review_id: state.id,
    review_version: state.current_version,
    previous_version: state.current_version,
    action: { id, label, kind, decision_value: event.type === 'review.decided' ? decisionValue(event.body.decision) : null },
    actor: actorOf(by),
    feedback,
    edited_payload,
    trigger_path: 'manual',
    timestamp: event.time,
  };
  return { event_type: 'review.action_taken', body };
}

function decisionValue(decision: string): 'approved' | 'rejected' {
  return decision === 'rejected' ? 'rejected' : 'approved';
}

/** Asking for changes is told by `review.retried`; an iteration of the template's own also under its own name. */
function iteration(state: Review, event: Stored<'review.changes_requested'>): Told[] {
  const { action, feedback, prompt_edit, edited_payload, webhook_event } = event.body;
  const retried: ReviewRetriedWebhook = {
    type: 'review.retried',
    review_id: state.id,
    action: 'retry',
    ...(feedback === null ? {} : { feedback }),
    ...(prompt_edit === null ? {} : { prompt_edit }),
    ...(edited_payload === null ? {} : { edited_payload }),
  };
  const preset = action.id === 'request_changes' ? null : `review.iteration_${action.id}`;
  return [{ event_type: 'review.retried', body: retried }, ...named(state, event, webhook_event ?? preset)];
}

/** The event an action of the template's own is announced by, where it has one. */
function named(state: Review, event: Stored<'review.changes_requested' | 'review.action_taken'>, name: string | null): Told[] {
  if (name === null) return [];
  const { action, feedback, edited_payload, by } = event.body;
  const body: ReviewIterationWebhook = {
    event: name,
    review_id: state.id,
    action_id: action.id,
    feedback,
    actor: actorOf(by),
    timestamp: event.time,
    ...(edited_payload === null ? {} : { edited_payload }),
  };
  return [{ event_type: name, body }];
}

function expired(state: Review, why: Pick<ReviewExpiredWebhook, 'timeout_action' | 'withdrawn' | 'reason'>): Told {
  const { timeout_action, ...withdrawal } = why;
  return {
    event_type: 'review.expired',
    body: { type: 'review.expired', review_id: state.id, timeout_action, expired_at: outcomeTime(state, state.updated_at), ...withdrawal },
  };
}

function redeemed(state: Review, event: Stored<'review.redeemed'>): Told {
  const { redemption_id, digest, executor } = event.body;
  return {
    event_type: 'review.redeemed',
    body: {
      type: 'review.redeemed',
      review_id: state.id,
      redemption_id,
      digest,
      ...(executor === null ? {} : { executor }),
      redeemed_at: event.time,
    },
  };
}

function executed(state: Review, event: Stored<'review.executed'>): Told {
  const { execution_id, redemption_id, status, output_digest, note } = event.body;
  return {
    event_type: 'review.executed',
    body: {
      type: 'review.executed',
      review_id: state.id,
      execution_id,
      ...(redemption_id === null ? {} : { redemption_id }),
      status,
      ...(output_digest === null ? {} : { output_digest }),
      ...(note === null ? {} : { note }),
      executed_at: event.time,
    },
  };
}

function outcomeTime(state: Review, otherwise: string): string {
  if (!('outcome' in state)) return otherwise;
  return state.outcome.kind === 'decided' ? state.outcome.decided_at : state.outcome.expired_at;
}

function actorOf(person: PersonRef): WebhookActor {
  return { type: 'reviewer', id: person.id, email: person.email };
}
