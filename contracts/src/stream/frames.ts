/**
 * Frames of `GET /api/v1/events/stream` (HRP §6.3, decision 13): `id:` (opaque), `data:` one JSON document, LF only.
 *
 * F1. The first frame is `open`. It and `reset` carry no fact of a review.
 * F2. `id:` is a place to replay from with Last-Event-ID for 24 h or 10,000 frames; past that one `reset` comes first, and the reader
 *     must read its lists again.
 * F3. The four types that end a review are review.decided, review.expired, review.vetoed and review.confirmed; whoever waits then gets it.
 */

import { ReviewDecision } from '../http/action.js';
import { priority, projectId, reviewId, timeoutAction, timestamp } from '../http/primitives.js';
import { choice, message, ref, type Static, Type } from '../schema.js';

const FRAME_TYPES = [
  'review.created',
  'review.urgent',
  'review.assigned',
  'review.unassigned',
  'review.claimed',
  'review.released',
  'review.action_taken',
  'review.decided',
  'review.expired',
  'review.retried',
  'review.resubmitted',
  'review.reminder',
  'review.archived',
  'review.unarchived',
  'review.redeemed',
  'review.executed',
] as const;

export const OpenFrame = message('OpenFrame', Type.Object({ type: Type.Unsafe<'open'>({ type: 'string', const: 'open' }) }));
export type OpenFrame = Static<typeof OpenFrame>;

/** The frames asked for are no longer kept. */
export const ResetFrame = message('ResetFrame', Type.Object({ type: Type.Unsafe<'reset'>({ type: 'string', const: 'reset' }) }));
export type ResetFrame = Static<typeof ResetFrame>;

export const ReviewFrame = message(
  'ReviewFrame',
  Type.Object({
    type: choice(FRAME_TYPES),
    review_id: reviewId(),
    project_id: projectId(),
    template_slug: Type.String(),
    priority: priority(),
    created_at: timestamp('Of the fact.'),
    current_version: Type.Integer({ minimum: 1 }),
    decision: Type.Optional(ref(ReviewDecision)),
    decided_at: Type.Optional(timestamp()),
    expired_at: Type.Optional(timestamp()),
    expires_at: Type.Optional(timestamp()),
    timeout_action: Type.Optional(timeoutAction()),
    withdrawn: Type.Optional(Type.Unsafe<true>({ type: 'boolean', const: true })),
    action_id: Type.Optional(Type.String()),
    previous_assignee: Type.Optional(Type.String()),
    new_assignee: Type.Optional(Type.String()),
    held_by: Type.Optional(Type.String()),
    execution_status: Type.Optional(choice(['succeeded', 'failed'])),
  }),
);
export type ReviewFrame = Static<typeof ReviewFrame>;

/** What `data:` holds. */
export const StreamFrame = message(
  'StreamFrame',
  Type.Unsafe<OpenFrame | ResetFrame | ReviewFrame>({ anyOf: [{ $ref: 'OpenFrame' }, { $ref: 'ResetFrame' }, { $ref: 'ReviewFrame' }] }),
);
export type StreamFrame = Static<typeof StreamFrame>;
