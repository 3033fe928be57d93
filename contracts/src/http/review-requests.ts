/** What agents and people send about a review (HRP §1.2, §13). Unknown keys are dropped; known ones that are not served yet, and names only answers have, are refused. */

import { REVIEW_STATUSES } from '../events/parts.js';
import { choice, jsonObject, message, notYet, notYetField, type Static, saidAs, Type } from '../schema.js';
import { page } from './list.js';
import { digest, httpUrl, priority, redemptionId, seconds, text, timeoutAction } from './primitives.js';

const payload = () => jsonObject({ maxProperties: 1000 });
const version = () => Type.Integer({ minimum: 1, maximum: 1_000_000 });

export const ReviewCreate = message(
  'ReviewCreate',
  Type.Object({
    template: text(255, 1, 'Slug or id; a slug wins.'),
    payload: payload(),
    callback_url: Type.Optional(httpUrl()),
    priority: Type.Optional(priority()),
    actions: Type.Optional(Type.Array(text(64, 1), { maxItems: 20, description: 'Ids of template actions to offer; all when absent.' })),
    confidence: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
    irreversibility: Type.Optional(choice(['reversible', 'costly_reversible', 'irreversible'])),
    oversight: Type.Optional(notYet(choice(['blocking'], { default: 'blocking' }), choice(['monitoring']))),
    assignee: Type.Optional(text(254, 1)),
    metadata: Type.Optional(jsonObject({ maxProperties: 100, description: 'Returned with the review; never shown to the reviewer.' })),
    timeout: Type.Optional(Type.Object({ seconds: seconds(), action: timeoutAction() })),
    timeout_seconds: Type.Optional(saidAs('timeout.seconds')),
    timeout_action: Type.Optional(saidAs('timeout.action')),
    expires_at: Type.Optional(saidAs('timeout.seconds')),
    idempotency_key: Type.Optional(
      text(
        255,
        1,
        'The same request again returns the first review. Shared by all API keys of the project: choose keys that are unique in it.',
      ),
    ),
    trace_url: Type.Optional(Type.String({ format: 'uri', maxLength: 2048 })),
    max_iterations: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
    on_behalf_of: Type.Optional(text(254, 1, 'E-mail or id of the person the agent acts for, who may not approve the review.')),
    assignment_ladder: Type.Optional(notYetField()),
    definition: Type.Optional(notYetField()),
    snoozed_until: Type.Optional(notYetField()),
    notes: Type.Optional(notYetField()),
  }),
);
export type ReviewCreate = Static<typeof ReviewCreate>;

export const ReviewResubmit = message('ReviewResubmit', Type.Object({ payload: payload(), version: version() }));
export type ReviewResubmit = Static<typeof ReviewResubmit>;

export const ReviewWithdraw = message('ReviewWithdraw', Type.Object({ reason: Type.Optional(text(2000, 1)) }));
export type ReviewWithdraw = Static<typeof ReviewWithdraw>;

const feedback = () => text(10_000);
/** What the person saw (decision 22). */
const seen = () => ({ version: Type.Optional(version()), payload_digest: Type.Optional(digest()) });

export const ReviewAction = message(
  'ReviewAction',
  Type.Object({
    action_id: text(64, 1),
    feedback: Type.Optional(feedback()),
    edited_payload: Type.Optional(payload()),
    ...seen(),
  }),
);
export type ReviewAction = Static<typeof ReviewAction>;

/** Deprecated: use the action route. `reviewer` is read by nothing: the session says who decides (decision 7). */
export const ReviewDecide = message(
  'ReviewDecide',
  Type.Object({
    decision: notYet(choice(['approved', 'rejected', 'edited']), choice(['confirmed', 'vetoed'])),
    feedback: Type.Optional(feedback()),
    edited_payload: Type.Optional(payload()),
    prompt_edit: Type.Optional(text(10_000)),
    reviewer: Type.Optional(text(254)),
    action_value: Type.Optional(text(64)),
    action_label: Type.Optional(text(120)),
    ...seen(),
  }),
);
export type ReviewDecide = Static<typeof ReviewDecide>;

/** Deprecated: the action request_changes. */
export const ReviewRetry = message(
  'ReviewRetry',
  Type.Object({ feedback: text(10_000, 1), prompt_edit: Type.Optional(text(10_000)), ...seen() }),
);
export type ReviewRetry = Static<typeof ReviewRetry>;

/** Deprecated: the action cancel_iteration. */
export const ReviewCancelRequest = message('ReviewCancelRequest', Type.Object({ feedback: Type.Optional(feedback()), ...seen() }));
export type ReviewCancelRequest = Static<typeof ReviewCancelRequest>;

export const ReviewDraft = message('ReviewDraft', Type.Object({ draft_payload: payload() }));
export type ReviewDraft = Static<typeof ReviewDraft>;

export const ReviewClaimQuery = message(
  'ReviewClaimQuery',
  Type.Object({
    force: Type.Optional(Type.Boolean({ default: false, description: 'Take it over from its current holder; requires reviews:assign.' })),
  }),
);
export type ReviewClaimQuery = Static<typeof ReviewClaimQuery>;

export const ReviewAssign = message(
  'ReviewAssign',
  Type.Object({ assignee: text(254, 1), hold: Type.Optional(Type.Boolean({ default: false })) }),
);
export type ReviewAssign = Static<typeof ReviewAssign>;

/** The exact value about to run, or its RFC 8785 digest. */
export const ReviewRedeem = message(
  'ReviewRedeem',
  Type.Object(
    {
      value: Type.Optional(jsonObject()),
      digest: Type.Optional(digest()),
      executor: Type.Optional(text(200, 1)),
    },
    { oneOf: [{ required: ['value'] }, { required: ['digest'] }] },
  ),
);
export type ReviewRedeem = Static<typeof ReviewRedeem>;

export const ReviewExecution = message(
  'ReviewExecution',
  Type.Object({
    redemption_id: Type.Optional(redemptionId()),
    status: choice(['succeeded', 'failed']),
    output_digest: Type.Optional(digest()),
    note: Type.Optional(text(2000)),
  }),
);
export type ReviewExecution = Static<typeof ReviewExecution>;

export const ReviewGetQuery = message(
  'ReviewGetQuery',
  Type.Object({
    wait: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 60, description: 'Seconds to wait for a status or version different from If-None-Match.' }),
    ),
  }),
);
export type ReviewGetQuery = Static<typeof ReviewGetQuery>;

export const ReviewListQuery = message(
  'ReviewListQuery',
  Type.Object({
    status: Type.Optional(
      choice([...REVIEW_STATUSES, 'changes_requested'], { description: 'changes_requested means awaiting_iteration.' }),
    ),
    priority: Type.Optional(priority()),
    template: Type.Optional(text(100, 1, 'Slug.')),
    assignee: Type.Optional(text(254, 1)),
    outcome: Type.Optional(choice(['approved', 'rejected', 'edited', 'max_iterations_reached', 'confirmed', 'vetoed'])),
    sort: Type.Optional(
      choice(['priority', 'settled_at'], {
        default: 'priority',
        description:
          'priority: the most urgent first, then the newest request. settled_at: only reviews that were decided, expired or were withdrawn, archived ones included, the latest first. A cursor belongs to the order it came from.',
      }),
    ),
    ...page(),
  }),
);
export type ReviewListQuery = Static<typeof ReviewListQuery>;
