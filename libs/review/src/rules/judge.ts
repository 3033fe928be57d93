/**
 * The frame every command on an existing review is judged in.
 *
 * J1. First what the clock has done, then who may, then the rules: a command never acts on a state that has already lapsed.
 * J2. What fell due is recorded with whatever the command leads to, a refusal included (decision 25); a stranger's command records nothing.
 * J3. A command on an open review is bound to end before its deadline; the database judges that when it appends (K8).
 * J4. An attempt to change what the clock has settled is itself recorded, once for each actor and action (R3).
 */
import { type Actor, type ActorRef, type AgentActor, actorRef, type PersonActor, type ReviewEvent } from '@countersign/contracts';
import { foresee, type Judged, purposeless, settle } from '../commands/elapse.js';
import type { ReviewRefusal } from '../refusals.js';
import type { RequestedReview, ReviewState } from '../state.js';
import { commandDeadline, effectiveDeadline, secondsBetween } from './deadline.js';
import { may, type ReviewCommandName } from './policy.js';

/** What the rules say of a command. `notAfter`: an end of its own, beside the review's deadline. */
export type Ruling = Pick<Judged, 'events' | 'refusal' | 'schedule' | 'notAfter'>;

export const refused = (refusal: ReviewRefusal): Ruling => ({ events: [], refusal });
export const alreadySo: Ruling = { events: [] };

interface Attempt {
  actor: Actor;
  name: ReviewCommandName;
  /** Whether the command would approve (policy P5). */
  approves?: (review: RequestedReview) => boolean;
  /** Set for commands whose late attempt is recorded (J4). */
  late?: (review: RequestedReview) => { attempt: 'act' | 'resubmit'; action_id: string | null };
}

const idOf = (actor: ActorRef): string => (actor.kind === 'person' ? actor.id : actor.key_id);

/** The clock settled it: by a timeout, not by the agent's withdrawal and not by a person. */
function settledByClock(review: RequestedReview): boolean {
  if (!('outcome' in review)) return false;
  return review.outcome.kind === 'decided' ? review.outcome.trigger === 'timeout' : review.outcome.withdrawal === null;
}

function lateAttempt(review: RequestedReview, attempt: Attempt, refusal: ReviewRefusal, now: string): ReviewEvent[] {
  if (!attempt.late || !settledByClock(review)) return [];
  if (refusal.code !== 'review_already_decided' && refusal.code !== 'review_expired') return [];
  const by = actorRef(attempt.actor as AgentActor | PersonActor);
  const { attempt: kind, action_id } = attempt.late(review);
  const known = review.late_attempts.some((late) => idOf(late.by) === idOf(by) && late.attempt === kind && late.action_id === action_id);
  if (known) return [];
  const late_seconds = secondsBetween(effectiveDeadline(review) as string, now);
  return [{ type: 'review.late_attempt_refused', body: { by, attempt: kind, action_id, late_seconds } }];
}

export function judge(state: ReviewState, now: string, attempt: Attempt, rule: (review: RequestedReview) => Ruling): Judged {
  const settled = settle(state, now);
  const approves = settled.state.status !== 'none' && (attempt.approves?.(settled.state) ?? false);
  const permission = may(attempt.actor, attempt.name, settled.state, { approves });
  if (!permission.ok) return { events: [], refusal: permission.refusal };

  // Nobody may do anything to a review that is none.
  const review = settled.state as RequestedReview;
  const { events, refusal, schedule, notAfter } = rule(review);
  const own = refusal ? lateAttempt(review, attempt, refusal, now) : events;
  return {
    events: [...settled.events, ...own],
    refusal,
    schedule,
    cancel: purposeless(state, foresee(review, review, own, now)),
    notBefore: settled.at,
    notAfter: notAfter ?? commandDeadline(review) ?? undefined,
  };
}
