import type { Review } from '@countersign/contracts';

/** Reviews that are over, the latest end first: what somebody looks for there is what just happened. The server lists by urgency. */
export function newestFirst(reviews: readonly Review[]): Review[] {
  return [...reviews].sort((a, b) => endOf(b).localeCompare(endOf(a)));
}

/** Times are ISO 8601 in UTC with milliseconds, so their order is that of their letters. */
const endOf = (review: Review): string => review.decided_at ?? review.updated_at;
