/** The one error body of every route (HRP §0, §13). */
import { ERROR_CODES, ERROR_TYPES } from '../errors.js';
import { choice, message, nullable, ref, type Static, Type } from '../schema.js';
import { ReviewDecision, ReviewStatus } from './action.js';
import { reviewId, timestamp } from './primitives.js';
import { Redemption } from './review.js';

export const ErrorDetail = message(
  'ErrorDetail',
  Type.Object({
    path: Type.String({ description: 'Where, such as body.timeout.seconds.' }),
    message: Type.String(),
    code: Type.String({ description: 'The kind of fault, such as invalid_type or too_small.' }),
  }),
);
export type ErrorDetail = Static<typeof ErrorDetail>;

/** What a 409 tells about the review as it stands now. */
export const SettledReview = message(
  'SettledReview',
  Type.Object({
    id: reviewId(),
    status: ref(ReviewStatus),
    decision: nullable(ref(ReviewDecision)),
    decided_by: nullable(Type.String()),
    decided_at: nullable(timestamp()),
    current_version: Type.Integer({ minimum: 1 }),
  }),
);
export type SettledReview = Static<typeof SettledReview>;

export const ErrorBody = message(
  'ErrorBody',
  Type.Object({
    error: Type.Object({
      type: choice(ERROR_TYPES),
      code: choice(ERROR_CODES),
      message: Type.String({ description: 'What happened and what to do about it.' }),
      param: Type.Optional(Type.String({ description: 'The field at fault: body.x.y for a schema violation, the plain name for a rule.' })),
      doc_url: Type.String({ format: 'uri-reference' }),
      details: Type.Optional(Type.Array(ref(ErrorDetail))),
      review: Type.Optional(ref(SettledReview)),
      review_id: Type.Optional(reviewId()),
      status: Type.Optional(ref(ReviewStatus)),
      redemption: Type.Optional(ref(Redemption)),
      paths: Type.Optional(
        Type.Array(Type.String({ format: 'json-pointer' }), { description: 'JSON pointers of the values that differ.' }),
      ),
      held_by: Type.Optional(Type.String({ description: 'Who has claimed the review.' })),
      expired_at: Type.Optional(timestamp('When the approval expired.')),
      missing_scopes: Type.Optional(Type.Array(Type.String())),
    }),
  }),
);
export type ErrorBody = Static<typeof ErrorBody>;
