import type { ErrorCode } from '@countersign/contracts';
import type { Refusal } from '@countersign/event-store';
import type { Archived, Decided, Expired, RequestedReview, ReviewState } from './state.js';

/** A no about a review, by its code in the catalogue of errors. */
export type ReviewRefusal = Refusal<ErrorCode>;

/** What a 409 says of the review as it stands (HRP §13). */
export interface ReviewSummary {
  id: string;
  status: RequestedReview['status'];
  decision: string | null;
  decided_by: string | null;
  decided_at: string | null;
  current_version: number;
}

export function summaryOf(review: RequestedReview): ReviewSummary {
  const outcome = 'outcome' in review && review.outcome.kind === 'decided' ? review.outcome : null;
  return {
    id: review.id,
    status: review.status,
    decision: outcome?.decision ?? null,
    decided_by: outcome && (outcome.decided_by.kind === 'person' ? outcome.decided_by.email : outcome.decided_by.id),
    decided_at: outcome?.decided_at ?? null,
    current_version: review.current_version,
  };
}

export function refuse(code: ErrorCode, message: string, more: Pick<ReviewRefusal, 'param' | 'details'> = {}): ReviewRefusal {
  return { code, message, ...more };
}

/** A refusal because of how the review stands: it says how. */
export function conflict(code: ErrorCode, message: string, review: RequestedReview, extra: Record<string, unknown> = {}): ReviewRefusal {
  return { code, message, extra: { review: summaryOf(review), ...extra } };
}

export const notFound = (): ReviewRefusal => refuse('review_not_found', 'No review with this id in this project.');

/** @param ref slug or id, as it was asked for. */
export const noTemplate = (ref: string): ReviewRefusal =>
  refuse('template_not_found', `No template ${ref} in this project.`, { param: 'template' });

/** The no to whatever needs an open review; an archived one says what it was. */
export function settledRefusal(review: Decided | Expired | Archived): ReviewRefusal {
  if (review.outcome.kind === 'decided') {
    return conflict('review_already_decided', `The review was decided: ${review.outcome.decision}.`, review);
  }
  const why = review.outcome.withdrawal ? 'was withdrawn by the agent' : 'expired before a decision was made';
  return conflict('review_expired', `The review ${why}.`, review);
}

export const isSettled = (state: ReviewState): state is Decided | Expired | Archived => 'outcome' in state;
