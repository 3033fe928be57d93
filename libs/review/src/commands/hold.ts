/**
 * Who has a review in hand. A hold stops everybody else's decision until it is released, taken by an admin, or the review is settled;
 * whoever leaves the project has nothing in hand any more.
 */
import { type Actor, type Hold, type PersonActor, personRef } from '@countersign/contracts';
import { conflict, refuse, settledRefusal } from '../refusals.js';
import { isOpen } from '../review.js';
import { commandDeadline } from '../rules/deadline.js';
import { alreadySo, judge, type Ruling, refused } from '../rules/judge.js';
import { holds, isAdmin } from '../rules/policy.js';
import type { ReviewState } from '../state.js';
import { type Judged, purposeless, settle } from './elapse.js';

export interface ClaimReview {
  actor: Actor;
  /** Take it from its holder: for admins. */
  force?: boolean;
}

/** `POST /reviews/:id/claim[?force=true]` */
export function claim(command: ClaimReview, state: ReviewState, now: string): Judged {
  const actor = command.actor as PersonActor;
  const name = command.force ? 'force_claim' : 'claim';
  return judge(state, now, { actor, name }, (review): Ruling => {
    if (!isOpen(review)) return refused(settledRefusal(review));
    if (review.held_by?.person_id === actor.person_id) return alreadySo;
    return { events: [{ type: 'review.claimed', body: { by: personRef(actor), previous: review.held_by } }] };
  });
}

/** `POST /reviews/:id/release` by the holder or an admin. */
export function release(command: { actor: Actor }, state: ReviewState, now: string): Judged {
  const actor = command.actor as PersonActor;
  return judge(state, now, { actor, name: 'release' }, (review): Ruling => {
    if (!isOpen(review)) return refused(settledRefusal(review));
    const { held_by: holder, hold_lost_by } = review;
    if (holder === null) return alreadySo;
    if (!holds(actor, holder, review.project_id) && !isAdmin(actor, review.project_id)) {
      if (hold_lost_by && holds(actor, hold_lost_by, review.project_id)) {
        return refused(
          conflict('review_hold_changed', `${holder.ref} claimed the review in the meantime.`, review, { held_by: holder.ref }),
        );
      }
      return refused(refuse('not_holder', 'Only the person who claimed the review, or an admin, may release it.'));
    }
    return { events: [{ type: 'review.released', body: { by: personRef(actor), holder } }] };
  });
}

export interface AssignReview {
  actor: Actor;
  /** As it stands on the wire: an e-mail address or `role:<role>`. */
  assignee: string;
  /** The person the assignee is, found by the caller; null for a role. */
  assignee_id?: string | null;
  /** The hold that goes with it, found by the caller: `reviewer:<email>` of a person, or a role. Null = assign without holding. */
  hold: Hold | null;
}

const sameHold = (a: Hold | null, b: Hold): boolean => a?.ref === b.ref && a.person_id === b.person_id;

/** `POST /reviews/:id/assign`: admins say whose it is; with a hold, nobody else can decide it. */
export function assign(command: AssignReview, state: ReviewState, now: string): Judged {
  const actor = command.actor as PersonActor;
  const { assignee, assignee_id = null, hold } = command;
  return judge(state, now, { actor, name: 'assign' }, (review): Ruling => {
    if (!isOpen(review)) return refused(settledRefusal(review));
    const given = review.assignee === assignee && review.assignee_id === assignee_id;
    if (given && (hold === null || sameHold(review.held_by, hold))) return alreadySo;
    const body = { by: personRef(actor), assignee, assignee_id, previous_assignee: review.assignee, hold };
    return { events: [{ type: 'review.assigned', body }] };
  });
}

export interface UnassignReview {
  person_id: string;
  reason: 'membership_ended';
}

/**
 * What a person who left the project had in hand is free again. The server does it itself, so nobody is asked whether they may. No events:
 * nothing of it is theirs, or it is settled.
 */
export function unassign(command: UnassignReview, state: ReviewState, now: string): Judged {
  const { person_id, reason } = command;
  const { state: review, events: lapses, at } = settle(state, now);
  if (!isOpen(review)) return { events: [] };
  const assigned = review.assignee_id === person_id;
  const holder = review.held_by?.person_id === person_id ? review.held_by : null;
  if (!assigned && holder === null) return { events: [] };
  const body = { person_id, reason, previous_assignee: assigned ? review.assignee : null, holder };
  return {
    events: [...lapses, { type: 'review.unassigned', body }],
    cancel: purposeless(state, review),
    notBefore: at,
    notAfter: commandDeadline(review) ?? undefined,
  };
}
