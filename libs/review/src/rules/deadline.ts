import type { RequestedReview } from '../state.js';

/** ISO time that many seconds later. */
export function addSeconds(time: string, seconds: number): string {
  return new Date(Date.parse(time) + seconds * 1000).toISOString();
}

/** Whole seconds from one time to a later one; 0 when it is not later. */
export function secondsBetween(from: string, to: string): number {
  return Math.max(0, Math.floor((Date.parse(to) - Date.parse(from)) / 1000));
}

/** Times are ISO with milliseconds in UTC, so that their text orders as they do. */
export function reached(time: string | null, now: string): time is string {
  return time !== null && now >= time;
}

/**
 * When the review's window ends: the one answer for appends, timers and screens (decision 26); null = never.
 * At this very instant it has ended.
 */
export function effectiveDeadline(review: Pick<RequestedReview, 'expires_at'>): string | null {
  return review.expires_at;
}

/** Up to when a command on an open review may be appended: its window, or before that the end of a wait for changes. */
export function commandDeadline(review: RequestedReview): string | null {
  if (review.status !== 'pending' && review.status !== 'awaiting_iteration') return null;
  const ends = [effectiveDeadline(review), review.status === 'awaiting_iteration' ? review.changes.deadline : null];
  return ends.filter((end) => end !== null).sort()[0] ?? null;
}

/** When the approval stops being redeemable; null = never. */
export function approvalDeadline(review: RequestedReview): string | null {
  if (!('outcome' in review) || review.outcome.kind !== 'decided' || review.outcome.approved_digest === null) return null;
  return review.approval_valid_seconds === null ? null : addSeconds(review.outcome.decided_at, review.approval_valid_seconds);
}

/** Share of the window after which the reviewers are reminded, once (HRP §6.1). */
const REMINDER_SHARE = 0.75;

/** Seconds from the request to its reminder. */
export function reminderSeconds(timeoutSeconds: number): number {
  return Math.floor(timeoutSeconds * REMINDER_SHARE);
}
