/**
 * What a person judges when they decide: everything of a review but what goes on around it.
 *
 * J1 A field that is not listed here as moving is judged: one the server adds later pins the page rather than slip past it.
 * J2 Which actions there are is judged too: buttons do not change their meaning under the pointer.
 */
import type { Review } from '@countersign/contracts';
import { equalJson } from './difference/equal-json.js';

const MOVING: ReadonlySet<string> = new Set<keyof Review>([
  'updated_at',
  'reminder_sent_at',
  'notification_delivery_failed',
  'assignee',
  'held_by',
  'held_at',
  'draft_payload',
  'draft_by',
  'draft_at',
  'feedback',
  'last_action_id',
  'last_action_kind',
  'last_action_at',
  'last_action_by',
  'notes',
]);

const judged = (review: Review) => Object.fromEntries(Object.entries(review).filter(([name]) => !MOVING.has(name)));

/** Whether both put the same before a person, with the same to choose from. */
export function judgedAlike(a: Review, b: Review): boolean {
  return equalJson(judged(a), judged(b));
}

/** Whether both are about the same bytes in the same version. */
export function sameVersion(a: Review, b: Review): boolean {
  return a.id === b.id && a.current_version === b.current_version && a.payload_digest === b.payload_digest;
}
