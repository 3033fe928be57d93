/** The review as every reader sees it (HRP §2.1, §13). Every key is present, null when unset. */
import { AUTH_METHODS } from '../events/parts.js';
import { choice, jsonObject, message, nullable, ref, type Static, Type } from '../schema.js';
import { ActionKind, ReviewDecision, ReviewStatus, TemplateAction } from './action.js';
import { ListOf, objectType } from './list.js';
import {
  count,
  digest,
  executionId,
  keyId,
  personId,
  priority,
  projectId,
  redemptionId,
  reviewId,
  templateId,
  timeoutAction,
  timestamp,
  versionId,
} from './primitives.js';
import { TemplateField } from './template.js';

/** How the person who decided had proved themselves, and when. */
export const AuthProof = message('AuthProof', Type.Object({ method: choice(AUTH_METHODS), at: timestamp() }));
export type AuthProof = Static<typeof AuthProof>;

/** The template as the review pinned it (decision 10). */
export const ReviewTemplate = message(
  'ReviewTemplate',
  Type.Object({
    id: templateId(),
    slug: Type.String(),
    name: Type.String(),
    version: Type.Integer({ minimum: 1 }),
    fields: Type.Array(ref(TemplateField)),
    actions: Type.Array(ref(TemplateAction)),
    auto_approve: Type.Boolean(),
    instructions: nullable(Type.String()),
    allow_request_changes: Type.Boolean(),
    allow_notes: Type.Boolean(),
    allow_monitoring: Type.Boolean(),
    enable_review_links: Type.Boolean(),
  }),
);
export type ReviewTemplate = Static<typeof ReviewTemplate>;

/** An approval is redeemed at most once, against its exact bytes. */
export const Redemption = message(
  'Redemption',
  Type.Object({
    object: objectType('redemption'),
    id: redemptionId(),
    review_id: reviewId(),
    digest: digest(),
    executor: nullable(Type.String({ description: 'Name of the executor, as given by the caller.' })),
    redeemed_by: Type.String({ description: 'agent:<key prefix>' }),
    redeemed_at: timestamp(),
  }),
);
export type Redemption = Static<typeof Redemption>;

/** What came of running an approved value. */
export const Execution = message(
  'Execution',
  Type.Object({
    object: objectType('execution'),
    id: executionId(),
    review_id: reviewId(),
    redemption_id: nullable(redemptionId()),
    status: choice(['succeeded', 'failed']),
    output_digest: nullable(digest()),
    note: nullable(Type.String()),
    reported_by: Type.String({ description: 'agent:<key prefix>' }),
    executed_at: timestamp(),
  }),
);
export type Execution = Static<typeof Execution>;

/** What the agent was asked for and has not answered. `feedback` of a review tells of its decision once there is one. */
export const ChangeRequest = message(
  'ChangeRequest',
  Type.Object(
    {
      feedback: nullable(Type.String()),
      edited_payload: nullable(jsonObject({ description: 'Values the person suggests, by key: the edits that came with the request.' })),
      requested_by: Type.String({ description: '<kind>:<id>, such as reviewer:ann@example.org' }),
      requested_at: timestamp(),
    },
    { description: 'A request for changes the agent has not answered; it remains when the review is closed meanwhile.' },
  ),
);
export type ChangeRequest = Static<typeof ChangeRequest>;

export const Review = message(
  'Review',
  Type.Object({
    object: objectType('review'),
    id: reviewId(),
    project_id: projectId(),
    status: ref(ReviewStatus),
    current_version: Type.Integer({ minimum: 1 }),
    iteration_count: count(),
    created_at: timestamp(),
    updated_at: timestamp(),

    template_id: nullable(templateId()),
    template_slug: Type.String(),
    template_version: nullable(Type.Integer({ minimum: 1 })),
    template_fields: Type.Array(ref(TemplateField)),
    actions: Type.Array(ref(TemplateAction)),
    template: nullable(ref(ReviewTemplate)),
    available_actions: Type.Array(ref(TemplateAction), {
      description: 'Actions currently available to a person, including the built-in ones; empty once the review is closed.',
    }),

    payload: jsonObject({ description: 'The payload most recently sent by the agent.' }),
    payload_digest: digest('Over the RFC 8785 bytes of payload.'),
    suggested_value: jsonObject(),
    edited_payload: nullable(jsonObject()),
    was_edited: Type.Boolean(),
    approved_value: nullable(jsonObject({ description: 'The payload with the edits merged key by key; null unless approved.' })),
    approved_digest: nullable(digest('Over the RFC 8785 bytes of approved_value.')),
    approval_expires_at: nullable(timestamp('After this time the approval cannot be redeemed.')),

    priority: priority(),
    confidence: nullable(Type.Number({ minimum: 0, maximum: 1 })),
    irreversibility: nullable(choice(['reversible', 'costly_reversible', 'irreversible'])),
    oversight: choice(['blocking', 'monitoring']),
    assignee: nullable(Type.String()),
    metadata: nullable(jsonObject()),
    callback_url: nullable(Type.String()),
    trace_url: nullable(Type.String()),
    idempotency_key: nullable(Type.String()),
    max_iterations: nullable(Type.Integer({ minimum: 1 })),
    requested_by: nullable(keyId()),
    requested_by_name: nullable(Type.String({ description: 'Name of the API key at the time of the request.' })),
    on_behalf_of: nullable(personId()),

    timeout_seconds: nullable(Type.Integer({ minimum: 60 })),
    timeout_action: nullable(timeoutAction()),
    expires_at: nullable(timestamp()),
    reminder_sent_at: nullable(timestamp()),

    decision: nullable(ref(ReviewDecision)),
    decided_by: nullable(Type.String({ description: "A person's e-mail, or system:<why>." })),
    decided_by_verified: nullable(Type.Boolean()),
    decided_by_auth: nullable(ref(AuthProof)),
    decided_at: nullable(timestamp()),
    shown: nullable(choice(['exact', 'assumed'], { description: 'Whether the decision included the version and digest the person saw.' })),
    auto_approved: Type.Boolean(),
    action_value: nullable(Type.String()),
    action_label: nullable(Type.String()),
    feedback: nullable(Type.String()),
    prompt_edit: nullable(Type.String()),
    change_request: nullable(ref(ChangeRequest)),

    last_action_id: nullable(Type.String()),
    last_action_kind: nullable(ref(ActionKind)),
    last_action_at: nullable(timestamp()),
    last_action_by: nullable(Type.String({ description: '<kind>:<id>, such as reviewer:ann@example.org' })),

    held_by: nullable(Type.String()),
    held_at: nullable(timestamp()),
    claimed_by: Type.Null({ description: 'Kept for HRP clients; always null.' }),
    claimed_at: Type.Null({ description: 'Kept for HRP clients; always null.' }),
    draft_payload: nullable(jsonObject({ description: 'A reviewer’s saved draft edits; always null for an API key.' })),
    draft_by: nullable(Type.String()),
    draft_at: nullable(timestamp()),

    settled_at: nullable(timestamp('When it was decided, expired or was withdrawn, whatever was done to it since; null while it is open.')),
    withdrawn: Type.Boolean(),
    withdrawn_reason: nullable(Type.String()),
    redemption: nullable(ref(Redemption)),
    executions: Type.Array(ref(Execution)),
    notification_delivery_failed: Type.Boolean(),

    snoozed_until: Type.Null(),
    assignment_ladder: Type.Null(),
    ladder_index: Type.Null(),
    ladder_next_promote_at: Type.Null(),
    chain_run_id: Type.Null(),
    chain_step_id: Type.Null(),
    chain_step_number: Type.Null(),
    chain_total_steps: Type.Null(),
    prev_step_ids: Type.Null(),
    active_token: Type.Null(),
    notes: Type.Optional(Type.Array(Type.Unknown(), { maxItems: 0, description: 'On a single review only; no notes yet.' })),
  }),
);
export type Review = Static<typeof Review>;

export const ReviewList = ListOf('ReviewList', Review);
export type ReviewList = Static<typeof ReviewList>;

export const ReviewVersion = message(
  'ReviewVersion',
  Type.Object({
    object: objectType('version'),
    id: versionId(),
    review_id: reviewId(),
    version: Type.Integer({ minimum: 1 }),
    payload: jsonObject(),
    payload_digest: digest(),
    feedback: nullable(Type.String({ description: 'The feedback that led to this version; null for the first.' })),
    created_at: timestamp(),
  }),
);
export type ReviewVersion = Static<typeof ReviewVersion>;

/** Newest first. Not a list object: HRP clients read `items` alone. */
export const ReviewVersions = message('ReviewVersions', Type.Object({ items: Type.Array(ref(ReviewVersion)) }));
export type ReviewVersions = Static<typeof ReviewVersions>;
