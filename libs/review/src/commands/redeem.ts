/**
 * What was approved is what runs (R4): an approval is redeemed once, against its exact value; what came of running it is a fact of its own (R5).
 */
import { type Actor, type AgentActor, agentRef, type ReviewEvent } from '@countersign/contracts';
import { differingPaths, digest, equalJson, NotCanonicalError } from '@countersign/evidence';
import { conflict, refuse } from '../refusals.js';
import { approvalDeadline, reached } from '../rules/deadline.js';
import { alreadySo, judge, type Ruling, refused } from '../rules/judge.js';
import type { DecidedOutcome, Execution, Redemption, RequestedReview, ReviewState } from '../state.js';
import type { Judged } from './elapse.js';

export interface RedeemApproval {
  actor: Actor;
  redemption_id: string;
  /** What is about to run: the value itself, or its RFC 8785 digest. */
  presented: { value: Record<string, unknown> } | { digest: string };
  executor?: string;
}

/** The redemption as it stands on the wire. */
export function redemptionToWire(reviewId: string, redemption: Redemption) {
  const { id, digest: redeemed, executor, redeemed_at, by } = redemption;
  const object = 'redemption' as const;
  return { object, id, review_id: reviewId, digest: redeemed, executor, redeemed_by: `agent:${by.key_prefix}`, redeemed_at };
}

/** The execution as it stands on the wire. */
export function executionToWire(reviewId: string, execution: Execution) {
  const { by, ...said } = execution;
  return { object: 'execution' as const, review_id: reviewId, ...said, reported_by: `agent:${by.key_prefix}` };
}

type Approval = DecidedOutcome & { approved_value: Record<string, unknown>; approved_digest: string };

function approvalOf(review: RequestedReview): Approval | null {
  if (!('outcome' in review) || review.outcome.kind !== 'decided' || review.outcome.approved_digest === null) return null;
  return review.outcome as Approval;
}

const notApproved = (review: RequestedReview): Ruling => refused(conflict('not_approved', 'The review is not approved.', review));

/** Null: it is the approved value. Otherwise the paths that differ, as far as a value was shown. */
function difference(approval: Approval, presented: RedeemApproval['presented']): { paths?: string[] } | null {
  if ('digest' in presented) return presented.digest === approval.approved_digest ? null : {};
  try {
    if (digest(presented.value) === approval.approved_digest) return null;
  } catch (error) {
    // What has no canonical form was never approved.
    if (!(error instanceof NotCanonicalError)) throw error;
  }
  return { paths: differingPaths(approval.approved_value, presented.value) };
}

/** `POST /reviews/:id/redeem` */
export function redeem(command: RedeemApproval, state: ReviewState, now: string): Judged {
  return judge(state, now, { actor: command.actor, name: 'redeem' }, (review): Ruling => {
    const approval = approvalOf(review);
    if (approval === null) return notApproved(review);
    const different = difference(approval, command.presented);
    if (different) return refused(conflict('digest_mismatch', 'This is not the value that was approved.', review, { ...different }));
    if (approval.redemption) {
      const redemption = redemptionToWire(review.id, approval.redemption);
      return refused(conflict('already_redeemed', 'The approval was already redeemed.', review, { redemption }));
    }
    const deadline = approvalDeadline(review);
    if (reached(deadline, now)) {
      return refused(conflict('approval_expired', `The approval expired at ${deadline}.`, review, { expired_at: deadline }));
    }
    const event: ReviewEvent = {
      type: 'review.redeemed',
      body: {
        redemption_id: command.redemption_id,
        digest: approval.approved_digest,
        executor: command.executor ?? null,
        by: agentRef(command.actor as AgentActor),
      },
    };
    return { events: [event], notAfter: deadline ?? undefined };
  });
}

export interface RecordExecution {
  actor: Actor;
  execution_id: string;
  redemption_id?: string;
  status: 'succeeded' | 'failed';
  output_digest?: string;
  note?: string;
}

/** Reports a review keeps; a runner that loops must not grow it without end. */
const MOST_EXECUTIONS = 100;

/** `POST /reviews/:id/executions`. The same report as the last one is that one again. */
export function recordExecution(command: RecordExecution, state: ReviewState, now: string): Judged {
  return judge(state, now, { actor: command.actor, name: 'record_execution' }, (review): Ruling => {
    const approval = approvalOf(review);
    if (approval === null) return notApproved(review);
    const { execution_id, status, redemption_id = null, output_digest = null, note = null } = command;
    if (redemption_id !== null && redemption_id !== approval.redemption?.id) {
      return refused(refuse('redemption_not_found', 'This review has no such redemption.', { param: 'redemption_id' }));
    }
    const by = agentRef(command.actor as AgentActor);
    const report = { redemption_id, status, output_digest, note, by };
    const last = approval.executions.at(-1);
    if (last && equalJson(report, reportOf(last))) return alreadySo;
    if (approval.executions.length >= MOST_EXECUTIONS) {
      return refused(conflict('too_many_executions', `A review can have at most ${MOST_EXECUTIONS} execution reports.`, review));
    }
    return { events: [{ type: 'review.executed', body: { execution_id, ...report } }] };
  });
}

function reportOf({ redemption_id, status, output_digest, note, by }: Execution) {
  return { redemption_id, status, output_digest, note, by };
}
