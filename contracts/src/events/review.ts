/**
 * What happened to a review. Writers: intake (agents), decisions (people), monitoring (the clock); one stream, one fold.
 *
 * V1. Bodies hold durations; when something happened is the event's time, and what fell due is its cause plus a duration (K8).
 * V2. A decision carries what was shown and what was approved as digests, and how the person proved themselves (R4, decision 7).
 * V3. Nothing that decides is left to be looked up later: fields, actions and rules are pinned when the review is requested (decision 10).
 */
import { digest, executionId, keyId, personId, redemptionId, templateId, text } from '../http/primitives.js';
import { choice, message, nullable, type Static, Type } from '../schema.js';
import {
  Action,
  ActionTaken,
  ActorRef,
  AgentRef,
  DECISIONS,
  Field,
  Hold,
  jsonPayload,
  PersonRef,
  Proof,
  reviewVersion,
  Shown,
  type SystemRef,
  SystemRef as SystemRefSchema,
  seconds,
  Timeout,
} from './parts.js';

const feedback = () => nullable(text(65_536));

export const TemplateSnapshot = Type.Object({
  id: templateId(),
  slug: Type.String({ minLength: 1 }),
  version: reviewVersion(),
  name: Type.String(),
  instructions: nullable(Type.String()),
  auto_approve: Type.Boolean(),
  allow_request_changes: Type.Boolean(),
  allow_notes: Type.Boolean(),
});
export type TemplateSnapshot = Static<typeof TemplateSnapshot>;

export const ReviewRequested = message(
  'review.requested.v1',
  Type.Object({
    template: TemplateSnapshot,
    fields: Type.Array(Field),
    actions: Type.Array(Action),
    payload: jsonPayload(),
    payload_digest: digest(),
    priority: choice(['low', 'normal', 'high', 'critical']),
    confidence: nullable(Type.Number({ minimum: 0, maximum: 1 })),
    irreversibility: nullable(choice(['reversible', 'costly_reversible', 'irreversible'])),
    oversight: choice(['blocking']),
    assignee: nullable(Type.String({ minLength: 1 })),
    /** The person the assignee is; null or absent for a role, and for nobody. */
    assignee_id: Type.Optional(nullable(personId())),
    metadata: nullable(jsonPayload()),
    callback_url: nullable(Type.String({ minLength: 1 })),
    trace_url: nullable(Type.String({ minLength: 1 })),
    timeout: nullable(Timeout),
    changes_timeout_seconds: nullable(seconds()),
    approval_valid_seconds: nullable(seconds()),
    max_iterations: nullable(Type.Integer({ minimum: 1 })),
    idempotency_key: nullable(Type.String({ minLength: 1, maxLength: 255 })),
    requester: Type.Object({
      key_id: keyId(),
      key_prefix: Type.String({ minLength: 1 }),
      name: Type.String(),
      owner: nullable(personId()),
      /** People who owned the key before, or were shown it, if any. */
      former_owners: Type.Optional(Type.Array(personId())),
    }),
    on_behalf_of: nullable(Type.Object({ person_id: personId(), email: Type.String({ minLength: 1 }) })),
  }),
);
export type ReviewRequested = Static<typeof ReviewRequested>;

export const ReviewResubmitted = message(
  'review.resubmitted.v1',
  Type.Object({
    version: reviewVersion(),
    payload: jsonPayload(),
    payload_digest: digest(),
    by: AgentRef,
    owner: nullable(personId()),
    former_owners: Type.Optional(Type.Array(personId())),
  }),
);
export type ReviewResubmitted = Static<typeof ReviewResubmitted>;

export const ReviewWithdrawn = message('review.withdrawn.v1', Type.Object({ reason: nullable(text(10_000)), by: AgentRef }));
export type ReviewWithdrawn = Static<typeof ReviewWithdrawn>;

export const ReviewDecided = message(
  'review.decided.v1',
  Type.Object({
    decision: choice(DECISIONS),
    version: reviewVersion(),
    /** The name of a rule where no person decided (decision 19); the person whose request closed the review stands in `acted_by`. */
    decided_by: Type.Unsafe<PersonRef | SystemRef>({ anyOf: [PersonRef, SystemRefSchema] }),
    acted_by: nullable(PersonRef),
    proof: nullable(Proof),
    trigger: choice(['action', 'auto_approve', 'timeout', 'max_iterations']),
    /** With `timeout`: the window that ended. The decision is dated at its end, whenever it was written (decision 25). */
    after_seconds: nullable(seconds()),
    action: nullable(ActionTaken),
    /** Null where no person looked. */
    shown: nullable(Shown),
    approved_value: nullable(jsonPayload()),
    approved_digest: nullable(digest()),
    edited_payload: nullable(jsonPayload()),
    changed_keys: Type.Array(Type.String(), { uniqueItems: true }),
    feedback: feedback(),
    prompt_edit: feedback(),
    held_by: nullable(Hold),
  }),
);
export type ReviewDecided = Static<typeof ReviewDecided>;

/** What every act of a person on a review says. */
const act = () => ({
  action: ActionTaken,
  by: PersonRef,
  proof: Proof,
  shown: Shown,
  feedback: feedback(),
  edited_payload: nullable(jsonPayload()),
});

export const ReviewChangesRequested = message(
  'review.changes_requested.v1',
  Type.Object({
    ...act(),
    prompt_edit: feedback(),
    webhook_event: nullable(Type.String()),
    changes_timeout_seconds: nullable(seconds()),
  }),
);
export type ReviewChangesRequested = Static<typeof ReviewChangesRequested>;

export const ReviewActionTaken = message('review.action_taken.v1', Type.Object({ ...act(), webhook_event: nullable(Type.String()) }));
export type ReviewActionTaken = Static<typeof ReviewActionTaken>;

export const ReviewIterationCancelled = message('review.iteration_cancelled.v1', Type.Object(act()));
export type ReviewIterationCancelled = Static<typeof ReviewIterationCancelled>;

export const ReviewChangesTimedOut = message(
  'review.changes_timed_out.v1',
  Type.Object({ version: reviewVersion(), after_seconds: seconds() }),
);
export type ReviewChangesTimedOut = Static<typeof ReviewChangesTimedOut>;

export const ReviewExpired = message(
  'review.expired.v1',
  Type.Object({ timeout_action: choice(['auto_approve', 'auto_reject', 'expire']), after_seconds: seconds() }),
);
export type ReviewExpired = Static<typeof ReviewExpired>;

export const ReviewReminded = message('review.reminded.v1', Type.Object({ after_seconds: seconds(), remaining_seconds: seconds() }));
export type ReviewReminded = Static<typeof ReviewReminded>;

export const ReviewClaimed = message('review.claimed.v1', Type.Object({ by: PersonRef, previous: nullable(Hold) }));
export type ReviewClaimed = Static<typeof ReviewClaimed>;

export const ReviewReleased = message('review.released.v1', Type.Object({ by: PersonRef, holder: Hold }));
export type ReviewReleased = Static<typeof ReviewReleased>;

export const ReviewAssigned = message(
  'review.assigned.v1',
  Type.Object({
    by: PersonRef,
    assignee: Type.String({ minLength: 1 }),
    /** The person the assignee is; null or absent for a role. */
    assignee_id: Type.Optional(nullable(personId())),
    previous_assignee: nullable(Type.String({ minLength: 1 })),
    hold: nullable(Hold),
  }),
);
export type ReviewAssigned = Static<typeof ReviewAssigned>;

/** Taken out of the hands of somebody who is no longer in the project. Each is null where it was not theirs. */
export const ReviewUnassigned = message(
  'review.unassigned.v1',
  Type.Object({
    person_id: personId(),
    reason: choice(['membership_ended']),
    previous_assignee: nullable(Type.String({ minLength: 1 })),
    holder: nullable(Hold),
  }),
);
export type ReviewUnassigned = Static<typeof ReviewUnassigned>;

export const ReviewArchived = message('review.archived.v1', Type.Object({ by: ActorRef }));
export type ReviewArchived = Static<typeof ReviewArchived>;

export const ReviewUnarchived = message('review.unarchived.v1', Type.Object({ by: ActorRef }));
export type ReviewUnarchived = Static<typeof ReviewUnarchived>;

export const ReviewRedeemed = message(
  'review.redeemed.v1',
  Type.Object({ redemption_id: redemptionId(), digest: digest(), executor: nullable(text(200)), by: AgentRef }),
);
export type ReviewRedeemed = Static<typeof ReviewRedeemed>;

export const ReviewExecuted = message(
  'review.executed.v1',
  Type.Object({
    execution_id: executionId(),
    redemption_id: nullable(redemptionId()),
    status: choice(['succeeded', 'failed']),
    output_digest: nullable(digest()),
    note: nullable(text(10_000)),
    by: AgentRef,
  }),
);
export type ReviewExecuted = Static<typeof ReviewExecuted>;

export const ReviewLateAttemptRefused = message(
  'review.late_attempt_refused.v1',
  Type.Object({
    by: ActorRef,
    attempt: choice(['act', 'resubmit']),
    action_id: nullable(Type.String()),
    /** How long after the deadline, in whole seconds. */
    late_seconds: Type.Integer({ minimum: 0 }),
  }),
);
export type ReviewLateAttemptRefused = Static<typeof ReviewLateAttemptRefused>;

/** The same schemas by event type and schema version: what the store validates an append against. */
export const REVIEW_EVENTS = {
  'review.requested': { 1: ReviewRequested },
  'review.resubmitted': { 1: ReviewResubmitted },
  'review.withdrawn': { 1: ReviewWithdrawn },
  'review.decided': { 1: ReviewDecided },
  'review.changes_requested': { 1: ReviewChangesRequested },
  'review.action_taken': { 1: ReviewActionTaken },
  'review.iteration_cancelled': { 1: ReviewIterationCancelled },
  'review.changes_timed_out': { 1: ReviewChangesTimedOut },
  'review.expired': { 1: ReviewExpired },
  'review.reminded': { 1: ReviewReminded },
  'review.claimed': { 1: ReviewClaimed },
  'review.released': { 1: ReviewReleased },
  'review.assigned': { 1: ReviewAssigned },
  'review.unassigned': { 1: ReviewUnassigned },
  'review.archived': { 1: ReviewArchived },
  'review.unarchived': { 1: ReviewUnarchived },
  'review.redeemed': { 1: ReviewRedeemed },
  'review.executed': { 1: ReviewExecuted },
  'review.late_attempt_refused': { 1: ReviewLateAttemptRefused },
} as const;

type Latest = typeof REVIEW_EVENTS;
type ReviewEventType = keyof Latest;
/** A review event as a decider states it. */
export type ReviewEvent = { [T in ReviewEventType]: { type: T; body: Static<Latest[T][1]> } }[ReviewEventType];
