/**
 * Bodies of the webhooks an agent receives at its callback_url (HRP §7.1, §13). The keys are exact: clients read them by name.
 *
 * W1. `review.action_taken` and custom iterations say what they are in `event`; every other body does in `type`.
 * W2. A key marked optional is absent, never null, when there is nothing to say; a nullable key is always there. W5 is the one exception.
 * W3. One decision by a person sends `review.action_taken` and then `review.decided`.
 * W4. The same body is sent on every attempt, byte for byte (decision 11).
 * W5. A body that would be larger than 1 MB (1,048,576 bytes) has no suggested_value and no approved_value, and edited_payload is null:
 *     `truncated` is true, and review_url and message say where the values are. HRP §7.3 leaves out the edit alone.
 */

import { ActionKind, ReviewDecision } from '../http/action.js';
import { digest, executionId, httpUrl, personId, projectId, redemptionId, reviewId, timeoutAction, timestamp } from '../http/primitives.js';
import { choice, jsonObject, message, nullable, ref, type Static, type TSchema, Type } from '../schema.js';

const word = <const T extends string>(value: T) => Type.Unsafe<T>({ type: 'string', const: value });
const yes = () => Type.Optional(Type.Unsafe<true>({ type: 'boolean', const: true }));
const version = () => Type.Integer({ minimum: 1 });

/** In place of the values of a body that would be larger than 1 MB. */
export interface Truncated {
  edited_payload: null;
  truncated: true;
  /** The review in the inbox. */
  review_url: string;
  message: string;
}
const truncation = () => ({
  truncated: Type.Optional(
    Type.Unsafe<true>({
      type: 'boolean',
      const: true,
      description: 'The body would be larger than 1 MB: suggested_value and approved_value are left out and edited_payload is null.',
    }),
  ),
  review_url: Type.Optional(httpUrl('With truncated: the review in the inbox.')),
  message: Type.Optional(Type.String({ description: 'With truncated: where the values are.' })),
});

/** Edits that came with a request for changes. HRP takes them with the action and passes them on to nobody. */
const suggestion = () => ({
  edited_payload: Type.Optional(
    nullable(jsonObject({ description: 'Values the person suggests, by key; absent if they suggested none.' })),
  ),
  ...truncation(),
});

export const WebhookActor = message(
  'WebhookActor',
  Type.Object({ type: choice(['reviewer', 'agent', 'system']), id: Type.String(), email: Type.Optional(Type.String()) }),
);
export type WebhookActor = Static<typeof WebhookActor>;

export const ReviewDecidedWebhook = message(
  'ReviewDecidedWebhook',
  Type.Object({
    type: word('review.decided'),
    review_id: reviewId(),
    decision: ref(ReviewDecision),
    decided_at: timestamp(),
    was_edited: Type.Boolean(),
    iteration_count: Type.Integer({ minimum: 0 }),
    payload_digest: digest('Digest of the payload the decision was made on.'),
    approved_digest: nullable(digest('Of approved_value; null unless approved.')),
    suggested_value: Type.Optional(jsonObject()),
    approved_value: Type.Optional(jsonObject()),
    edited_payload: Type.Optional(nullable(jsonObject())),
    feedback: Type.Optional(Type.String()),
    reviewer: Type.Optional(Type.String({ description: 'E-mail of the person who decided; absent if no person did.' })),
    reviewer_id: Type.Optional(personId()),
    prompt_edit: Type.Optional(Type.String()),
    action_value: Type.Optional(Type.String()),
    action_label: Type.Optional(Type.String()),
    auto_approved: yes(),
    ...truncation(),
  }),
);
export type ReviewDecidedWebhook = Static<typeof ReviewDecidedWebhook>;

export const ReviewActionTakenWebhook = message(
  'ReviewActionTakenWebhook',
  Type.Object({
    event: word('review.action_taken'),
    review_id: reviewId(),
    review_version: version(),
    previous_version: version(),
    action: Type.Object({
      id: Type.String(),
      label: Type.String(),
      kind: ref(ActionKind),
      decision_value: nullable(choice(['approved', 'rejected'])),
    }),
    actor: ref(WebhookActor),
    feedback: nullable(Type.String()),
    edited_payload: nullable(jsonObject()),
    trigger_path: choice(['manual', 'chain', 'token', 'agent']),
    timestamp: timestamp(),
    ...truncation(),
  }),
);
export type ReviewActionTakenWebhook = Static<typeof ReviewActionTakenWebhook>;

/** Changes were requested: send the next version. */
export const ReviewRetriedWebhook = message(
  'ReviewRetriedWebhook',
  Type.Object({
    type: word('review.retried'),
    review_id: reviewId(),
    action: word('retry'),
    feedback: Type.Optional(Type.String()),
    prompt_edit: Type.Optional(Type.String()),
    ...suggestion(),
  }),
);
export type ReviewRetriedWebhook = Static<typeof ReviewRetriedWebhook>;

/** An iteration action of the template's own; named by its webhook_event, or `review.iteration_<id>`. */
export const ReviewIterationWebhook = message(
  'ReviewIterationWebhook',
  Type.Object({
    event: Type.String({ pattern: '^[a-z0-9_.]+$' }),
    review_id: reviewId(),
    action_id: Type.String(),
    feedback: nullable(Type.String()),
    actor: ref(WebhookActor),
    timestamp: timestamp(),
    ...suggestion(),
  }),
);
export type ReviewIterationWebhook = Static<typeof ReviewIterationWebhook>;

/** Nobody decided in time, or the agent took its question back. */
export const ReviewExpiredWebhook = message(
  'ReviewExpiredWebhook',
  Type.Object({
    type: word('review.expired'),
    review_id: reviewId(),
    timeout_action: nullable(timeoutAction()),
    expired_at: timestamp(),
    withdrawn: yes(),
    reason: Type.Optional(Type.String()),
  }),
);
export type ReviewExpiredWebhook = Static<typeof ReviewExpiredWebhook>;

export const ReviewRedeemedWebhook = message(
  'ReviewRedeemedWebhook',
  Type.Object({
    type: word('review.redeemed'),
    review_id: reviewId(),
    redemption_id: redemptionId(),
    digest: digest(),
    executor: Type.Optional(Type.String()),
    redeemed_at: timestamp(),
  }),
);
export type ReviewRedeemedWebhook = Static<typeof ReviewRedeemedWebhook>;

export const ReviewExecutedWebhook = message(
  'ReviewExecutedWebhook',
  Type.Object({
    type: word('review.executed'),
    review_id: reviewId(),
    execution_id: executionId(),
    redemption_id: Type.Optional(redemptionId()),
    status: choice(['succeeded', 'failed']),
    output_digest: Type.Optional(digest()),
    note: Type.Optional(Type.String()),
    executed_at: timestamp(),
  }),
);
export type ReviewExecutedWebhook = Static<typeof ReviewExecutedWebhook>;

/** What `POST /webhooks/test` sends. */
export const TestWebhook = message(
  'TestWebhook',
  Type.Object({ type: word('webhook.test'), project_id: projectId(), sent_at: timestamp() }),
);
export type TestWebhook = Static<typeof TestWebhook>;

/** Bodies by the value of X-Webhook-Event. `review.iteration_{id}` stands for the names templates give their own iterations. */
export const WEBHOOKS = {
  'review.decided': ReviewDecidedWebhook,
  'review.action_taken': ReviewActionTakenWebhook,
  'review.retried': ReviewRetriedWebhook,
  'review.iteration_{id}': ReviewIterationWebhook,
  'review.expired': ReviewExpiredWebhook,
  'review.redeemed': ReviewRedeemedWebhook,
  'review.executed': ReviewExecutedWebhook,
  'webhook.test': TestWebhook,
} as const satisfies Record<string, TSchema>;
