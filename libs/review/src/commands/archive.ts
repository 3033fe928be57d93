/** Out of the lists and back. A review is archived, never removed (decision 20). */
import { type Actor, type AgentActor, actorRef, type PersonActor } from '@countersign/contracts';
import { conflict, isSettled } from '../refusals.js';
import { alreadySo, judge, type Ruling, refused } from '../rules/judge.js';
import type { ReviewState } from '../state.js';
import type { Judged } from './elapse.js';

/** `POST /reviews/:id/archive` and `DELETE /reviews/:id`. */
export function archive(command: { actor: Actor }, state: ReviewState, now: string): Judged {
  return judge(state, now, { actor: command.actor, name: 'archive' }, (review): Ruling => {
    if (review.status === 'archived') return alreadySo;
    if (!isSettled(review)) return refused(conflict('review_not_settled', 'Only a decided or expired review can be archived.', review));
    return { events: [{ type: 'review.archived', body: { by: actorRef(command.actor as AgentActor | PersonActor) } }] };
  });
}

/** `POST /reviews/:id/unarchive`: as it was before. */
export function unarchive(command: { actor: Actor }, state: ReviewState, now: string): Judged {
  return judge(state, now, { actor: command.actor, name: 'unarchive' }, (review): Ruling => {
    if (!isSettled(review)) return refused(conflict('review_not_archived', 'The review is not archived.', review));
    if (review.status !== 'archived') return alreadySo;
    return { events: [{ type: 'review.unarchived', body: { by: actorRef(command.actor as AgentActor | PersonActor) } }] };
  });
}
