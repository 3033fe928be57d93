/** A single review: folded from its stream, so that whoever wrote to it sees what they wrote (K14). */
import type { Actor, DraftReply, Review } from '@countersign/contracts';
import { type CallerIdentity, Problem, problemOf } from '@countersign/http';
import {
  commandDeadline,
  draftStands,
  isOpen,
  loadReview,
  may,
  type RequestedReview,
  settle,
  toWire,
  type WireExtras,
} from '@countersign/review';
import type { AuditContext } from '../deps.js';

export interface Shown {
  review: Review;
  /** When the review next changes by itself; null = never. */
  changes_at: string | null;
  now: string;
}

/** @throws {Problem} `review_not_found`. */
export async function showReview(context: AuditContext, caller: CallerIdentity, id: string): Promise<Shown> {
  const { state, now } = await loadReview(context.store, id);
  const permission = may(caller.actor, 'read', state);
  if (!permission.ok) throw problemOf(permission.refusal);
  // As it stands now, whoever has written what the clock did: nothing of a review that has ended is shown as if it went on.
  const review = settle(state, now).state as RequestedReview;
  const [notification_delivery_failed, draft] = await Promise.all([deliveryFailed(context, [id]), draftOf(context, caller, review)]);
  const extras: WireExtras = { notification_delivery_failed: notification_delivery_failed.has(id), draft };
  return { review: { ...toWire(review, now, extras), notes: [] }, changes_at: commandDeadline(review), now };
}

/** Unsent edits are for people; keys never see them. */
async function draftOf(context: AuditContext, caller: CallerIdentity, review: RequestedReview): Promise<WireExtras['draft']> {
  if (caller.actor.kind !== 'person' || !isOpen(review)) return null;
  const answer = await context.client.call<DraftReply>('decisions', {
    method: 'GET',
    path: `/internal/reviews/${review.id}/draft`,
    actor: { kind: 'anonymous' } satisfies Actor,
    request_id: caller.request_id,
  });
  if (answer.status !== 200) throw new Problem('service_unavailable', 'Saved edits are unavailable right now. Try again.');
  const { draft } = answer.body;
  return draft && draftStands(review, draft) ? draft : null;
}

/** Which of these reviews have a delivery that was given up. */
export async function deliveryFailed(context: Pick<AuditContext, 'pool'>, ids: readonly string[]): Promise<Set<string>> {
  const { rows } = await context.pool.query<{ review: string }>(
    'select distinct review from audit.failed_deliveries where review = any ($1)',
    [ids],
  );
  return new Set(rows.map((row) => row.review));
}
