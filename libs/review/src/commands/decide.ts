/**
 * What a person does to a review: the action pipeline (HRP §2.4, decisions 3–7, 22–27).
 *
 * The order of the checks is the protocol's: who may → the same click again → settled → awaiting changes → unknown action → status →
 * feedback → version and digest → editable fields → whether changes may be asked for.
 */
import {
  type Action,
  type ActionTaken,
  type Actor,
  type PersonActor,
  type PersonRef,
  type Proof,
  personRef,
  type ReviewEvent,
  type Shown,
} from '@countersign/contracts';
import { digest, equalJson } from '@countersign/evidence';
import { conflict, isSettled, type ReviewRefusal, refuse, settledRefusal } from '../refusals.js';
import { isOpen } from '../review.js';
import { type ActionChoice, CANCEL_ITERATION, isEnabled, resolveAction } from '../rules/actions.js';
import { secondsBetween } from '../rules/deadline.js';
import { checkEdit, type Edit, editOf } from '../rules/edits.js';
import { alreadySo, judge, type Ruling, refused } from '../rules/judge.js';
import { may } from '../rules/policy.js';
import type { OpenReview, RequestedReview, ReviewState } from '../state.js';
import { type Judged, settle } from './elapse.js';

export interface ActOnReview {
  actor: Actor;
  action: ActionChoice;
  feedback?: string;
  edited_payload?: Record<string, unknown>;
  prompt_edit?: string;
  /** What the person saw (decision 22). */
  version?: number;
  payload_digest?: string;
}

/** Feedback that says nothing is none. */
const feedbackOf = (command: ActOnReview): string | null => (command.feedback?.trim() ? command.feedback : null);

/** The same person's same click (decision 23): nothing undid it, and whatever the client says it saw is what the first click saw. */
function isRepeat(review: RequestedReview, action: Action, command: ActOnReview, edit: Edit): boolean {
  const last = review.last_act;
  if (!last?.standing || last.by.id !== (command.actor as PersonActor).person_id || last.action.id !== action.id) return false;
  if (last.feedback !== feedbackOf(command)) return false;
  if (!equalJson(last.edited_payload, edit.edited_payload)) return false;
  if (command.version !== undefined && command.version !== last.shown.version) return false;
  return command.payload_digest === undefined || command.payload_digest === last.shown.digest;
}

function unavailable(review: RequestedReview, action: Action | undefined): ReviewRefusal | null {
  if (isSettled(review) && review.status !== 'archived') return settledRefusal(review);
  const offered = action !== undefined && isEnabled(action, review.status);
  if (review.status === 'awaiting_iteration' && action?.kind === 'decision' && !offered) {
    return conflict('review_awaiting_changes', 'The review is waiting for the agent to revise its request.', review);
  }
  if (action === undefined) return refuse('action.unknown_action', 'This review has no such action.', { param: 'action_id' });
  if (offered && isOpen(review)) return null;
  return conflict('action.status_not_allowed', `The action ${action.id} is not available while the review is ${review.status}.`, review);
}

/** What the person saw is what the review holds (decision 22). */
function unseen(review: RequestedReview, action: Action, command: ActOnReview): ReviewRefusal | null {
  const { version, payload_digest } = command;
  const named = version !== undefined && payload_digest !== undefined;
  if (review.irreversibility === 'irreversible' && action.kind === 'decision' && !named) {
    const missing = version === undefined ? 'version' : 'payload_digest';
    return refuse('version_required', 'A decision on an irreversible review must include the version and payload_digest the person saw.', {
      param: missing,
    });
  }
  if (version !== undefined && version !== review.current_version) {
    return conflict('version_mismatch', `The review is at version ${review.current_version}, not ${version}.`, review);
  }
  if (payload_digest !== undefined && payload_digest !== review.payload_digest) {
    return conflict('payload_digest_mismatch', 'The payload has changed since the person saw it.', review);
  }
  return null;
}

function check(review: RequestedReview, action: Action | undefined, command: ActOnReview, edit: Edit): ReviewRefusal | null {
  const unfit = unavailable(review, action);
  if (unfit || action === undefined) return unfit;
  // The deprecated route lets a person reject without a reason.
  const waived = 'alias' in command.action && action.decision_value === 'rejected';
  if (action.requires_feedback && !waived && feedbackOf(command) === null) {
    return refuse('action.feedback_required', `The action ${action.id} requires feedback.`, { param: 'feedback' });
  }
  const wrong = unseen(review, action, command) ?? checkEdit(review, edit);
  if (wrong) return wrong;
  if (action.kind === 'iteration' && !review.template.allow_request_changes) {
    return refuse('request_changes_not_allowed', 'The template does not allow change requests.', { param: 'action_id' });
  }
  return null;
}

/** What is common to everything a person does. */
interface Act {
  action: ActionTaken;
  by: PersonRef;
  proof: Proof;
  shown: Shown;
  feedback: string | null;
  edited_payload: Record<string, unknown> | null;
}

function actOf(review: OpenReview, action: Action, command: ActOnReview, edit: Edit, now: string): Act {
  const person = command.actor as PersonActor;
  const { method, at } = person.auth;
  return {
    action: { id: action.id, label: action.label, kind: action.kind },
    by: personRef(person),
    proof: { method, session_id: person.session_id, authenticated_seconds_ago: secondsBetween(at, now) },
    shown: {
      basis: command.payload_digest === undefined ? 'assumed' : 'exact',
      version: review.current_version,
      digest: review.payload_digest,
    },
    feedback: feedbackOf(command),
    edited_payload: edit.edited_payload,
  };
}

function decided(review: OpenReview, action: Action, command: ActOnReview, act: Act, edit: Edit): ReviewEvent {
  const approved = action.decision_value === 'approved';
  const { by, proof, shown, feedback, edited_payload } = act;
  return {
    type: 'review.decided',
    body: {
      decision: !approved ? 'rejected' : edit.changed_keys.length > 0 ? 'edited' : 'approved',
      version: review.current_version,
      decided_by: by,
      acted_by: null,
      proof,
      trigger: 'action',
      after_seconds: null,
      action: act.action,
      shown,
      approved_value: approved ? edit.merged : null,
      approved_digest: !approved ? null : edit.edited_payload === null ? review.payload_digest : digest(edit.merged),
      edited_payload,
      changed_keys: edit.changed_keys,
      feedback,
      prompt_edit: command.prompt_edit ?? null,
      held_by: review.held_by,
    },
  };
}

/** One request for changes more than the review allows closes it (decision 27). */
function exhausted(review: OpenReview, command: ActOnReview, act: Act, edit: Edit): ReviewEvent {
  const { action, by, proof, shown, feedback, edited_payload } = act;
  return {
    type: 'review.decided',
    body: {
      decision: 'max_iterations_reached',
      version: review.current_version,
      decided_by: { kind: 'system', id: 'system:max_iterations' },
      acted_by: by,
      proof,
      trigger: 'max_iterations',
      after_seconds: null,
      action,
      shown,
      approved_value: null,
      approved_digest: null,
      edited_payload,
      changed_keys: edit.changed_keys,
      feedback,
      prompt_edit: command.prompt_edit ?? null,
      held_by: review.held_by,
    },
  };
}

function askForChanges(review: OpenReview, action: Action, command: ActOnReview, act: Act, edit: Edit): Ruling {
  if (review.max_iterations !== null && review.current_version > review.max_iterations) {
    return { events: [exhausted(review, command, act, edit)] };
  }
  const { changes_timeout_seconds } = review;
  const body = {
    ...act,
    prompt_edit: command.prompt_edit ?? null,
    webhook_event: action.webhook_event ?? null,
    changes_timeout_seconds,
  };
  const schedule =
    changes_timeout_seconds === null
      ? undefined
      : [{ stream: review.id, kind: 'changes_timeout', due: { inSeconds: changes_timeout_seconds } }];
  return { events: [{ type: 'review.changes_requested', body }], schedule };
}

/** `POST /reviews/:id/action` and its deprecated aliases. */
export function act(command: ActOnReview, state: ReviewState, now: string): Judged {
  const { actor } = command;
  const attempt = {
    actor,
    name: 'act' as const,
    approves: (review: RequestedReview) => resolveAction(review, command.action)?.decision_value === 'approved',
    // By the id of an action the review has: what it has not is one attempt, however it is called.
    late: (review: RequestedReview) => ({ attempt: 'act' as const, action_id: resolveAction(review, command.action)?.id ?? null }),
  };
  return judge(state, now, attempt, (review): Ruling => {
    const action = resolveAction(review, command.action);
    const edit = editOf(review.payload, command.edited_payload);
    if (action && isRepeat(review, action, command, edit)) return alreadySo;
    const refusal = check(review, action, command, edit);
    if (refusal) return refused(refusal);
    // `check` refuses an unknown action and every review that is not open.
    const [open, chosen] = [review as OpenReview, action as Action];
    const done = actOf(open, chosen, command, edit, now);
    switch (chosen.kind) {
      case 'decision':
        return { events: [decided(open, chosen, command, done, edit)] };
      case 'iteration':
        return askForChanges(open, chosen, command, done, edit);
      case 'side_effect':
        if (chosen.id === CANCEL_ITERATION.id) return { events: [{ type: 'review.iteration_cancelled', body: done }] };
        return { events: [{ type: 'review.action_taken', body: { ...done, webhook_event: chosen.webhook_event ?? null } }] };
    }
  });
}

/** Whether a person may keep a draft of these edits now; drafts are no events (K1). */
export function mayDraft(actor: Actor, state: ReviewState, now: string, edits: Record<string, unknown> = {}): ReviewRefusal | null {
  const review = settle(state, now).state;
  const permission = may(actor, 'draft', review);
  if (!permission.ok) return permission.refusal;
  if (!isOpen(review)) return conflict('not_pending', 'The review is no longer open.', review as RequestedReview);
  // A draft may be half typed: only whether its keys may be changed at all is asked.
  const wrong = checkEdit(review, editOf(review.payload, edits));
  return wrong?.code === 'field_not_editable' ? wrong : null;
}

/** Whether a draft still says what its author wants: a decision, a request for changes, its end or its answer since has made it pointless. */
export function draftStands(state: ReviewState, draft: { at: string }): boolean {
  return isOpen(state) && (state.drafts_void_at === null || state.drafts_void_at < draft.at);
}
