/** The review as every reader sees it (HRP §2.1, §13): settled by the time it is read at, without writing anything (decision 25). */
import type { Review } from '@countersign/contracts';
import { settle } from './commands/elapse.js';
import { executionToWire, redemptionToWire } from './commands/redeem.js';
import { openRequest, refOf } from './review.js';
import { offeredActions } from './rules/actions.js';
import { addSeconds, approvalDeadline } from './rules/deadline.js';
import { settledAt } from './rules/settled.js';
import type { DecidedOutcome, ExpiredOutcome, RequestedReview } from './state.js';

/** What a review's wire form shows that is not in its stream. */
export interface WireExtras {
  /** A person's unsent edits (K1); left out for API keys. */
  draft?: { payload: Record<string, unknown>; by: string; at: string } | null;
  /** Whether a delivery about this review ended as a dead letter. */
  notification_delivery_failed?: boolean;
}

/** Labels of decisions that no action names. */
const RULE_LABELS: Partial<Record<DecidedOutcome['trigger'], { action_value: string; action_label: string }>> = {
  auto_approve: { action_value: 'auto_approve', action_label: 'Auto-approved' },
};

/** The person a decision names by e-mail, or the rule it names by its own name. */
export function decidedBy(outcome: DecidedOutcome): string {
  return outcome.decided_by.kind === 'person' ? outcome.decided_by.email : outcome.decided_by.id;
}

/** What the action of a decision is called, on the review and in `review.decided`. */
export function actionNames(outcome: DecidedOutcome): { action_value: string | null; action_label: string | null } {
  const { action, trigger } = outcome;
  if (action) return { action_value: action.id, action_label: action.label };
  return RULE_LABELS[trigger] ?? { action_value: null, action_label: null };
}

function decisionFields(
  outcome: DecidedOutcome | null,
): Pick<
  Review,
  | 'decision'
  | 'decided_by'
  | 'decided_by_verified'
  | 'decided_by_auth'
  | 'decided_at'
  | 'shown'
  | 'auto_approved'
  | 'action_value'
  | 'action_label'
  | 'edited_payload'
  | 'was_edited'
  | 'approved_value'
  | 'approved_digest'
> {
  if (outcome === null) {
    return {
      decision: null,
      decided_by: null,
      decided_by_verified: null,
      decided_by_auth: null,
      decided_at: null,
      shown: null,
      auto_approved: false,
      action_value: null,
      action_label: null,
      edited_payload: null,
      was_edited: false,
      approved_value: null,
      approved_digest: null,
    };
  }
  const { proof, decided_at } = outcome;
  return {
    decision: outcome.decision,
    decided_by: decidedBy(outcome),
    decided_by_verified: outcome.decided_by.kind === 'person' ? true : null,
    decided_by_auth: proof && { method: proof.method, at: addSeconds(decided_at, -proof.authenticated_seconds_ago) },
    decided_at,
    shown: outcome.shown?.basis ?? null,
    auto_approved: outcome.trigger === 'auto_approve',
    ...actionNames(outcome),
    edited_payload: outcome.edited_payload,
    was_edited: outcome.decision === 'edited',
    approved_value: outcome.approved_value,
    approved_digest: outcome.approved_digest,
  };
}

function changeRequestOf(review: RequestedReview): Review['change_request'] {
  const request = openRequest(review);
  if (!request) return null;
  return { ...request, edited_payload: request.edited_payload ?? null, requested_by: refOf(request.requested_by) };
}

/** HRP names what later features fill; every key is present (HRP §2.1). */
const NOT_YET = {
  snoozed_until: null,
  assignment_ladder: null,
  ladder_index: null,
  ladder_next_promote_at: null,
  chain_run_id: null,
  chain_step_id: null,
  chain_step_number: null,
  chain_total_steps: null,
  prev_step_ids: null,
  active_token: null,
  claimed_by: null,
  claimed_at: null,
} as const;

/** @param now the database's time of the read. */
export function toWire(state: RequestedReview, now: string, extras: WireExtras = {}): Review {
  const review = settle(state, now).state as RequestedReview;
  const outcome: DecidedOutcome | ExpiredOutcome | null = 'outcome' in review ? review.outcome : null;
  const decided = outcome?.kind === 'decided' ? outcome : null;
  const withdrawal = outcome?.kind === 'expired' ? outcome.withdrawal : null;
  const { template, timeout, last_act } = review;
  return {
    object: 'review',
    id: review.id,
    project_id: review.project_id,
    status: review.status,
    current_version: review.current_version,
    iteration_count: review.current_version - 1,
    created_at: review.created_at,
    updated_at: review.updated_at,
    template_id: template.id,
    template_slug: template.slug,
    template_version: template.version,
    template_fields: review.fields,
    actions: review.actions,
    template: {
      ...template,
      fields: review.fields,
      actions: review.actions,
      allow_monitoring: false,
      enable_review_links: false,
    },
    available_actions: offeredActions(review),
    payload: review.payload,
    payload_digest: review.payload_digest,
    suggested_value: review.payload,
    ...decisionFields(decided),
    approval_expires_at: approvalDeadline(review),
    priority: review.priority,
    confidence: review.confidence,
    irreversibility: review.irreversibility,
    oversight: review.oversight,
    assignee: review.assignee,
    metadata: review.metadata,
    callback_url: review.callback_url,
    trace_url: review.trace_url,
    idempotency_key: review.idempotency_key,
    max_iterations: review.max_iterations,
    requested_by: review.requester.key_id,
    requested_by_name: review.requester.name,
    on_behalf_of: review.on_behalf_of?.person_id ?? null,
    timeout_seconds: timeout?.seconds ?? null,
    timeout_action: timeout?.action ?? null,
    expires_at: review.expires_at,
    reminder_sent_at: review.reminded_at,
    feedback: review.feedback,
    prompt_edit: review.prompt_edit,
    change_request: changeRequestOf(review),
    last_action_id: last_act?.action.id ?? null,
    last_action_kind: last_act?.action.kind ?? null,
    last_action_at: last_act?.at ?? null,
    last_action_by: last_act && refOf(last_act.by),
    held_by: review.held_by?.ref ?? null,
    held_at: review.held_at,
    draft_payload: extras.draft?.payload ?? null,
    draft_by: extras.draft?.by ?? null,
    draft_at: extras.draft?.at ?? null,
    settled_at: outcome && settledAt(outcome),
    withdrawn: withdrawal !== null,
    withdrawn_reason: withdrawal?.reason ?? null,
    redemption: decided?.redemption ? redemptionToWire(review.id, decided.redemption) : null,
    executions: (decided?.executions ?? []).map((execution) => executionToWire(review.id, execution)),
    notification_delivery_failed: extras.notification_delivery_failed ?? false,
    ...NOT_YET,
  };
}
