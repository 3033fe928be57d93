import {
  type AgentActor,
  type Execution,
  IdParams,
  type Redemption,
  type Review,
  ReviewCreate,
  ReviewExecution,
  ReviewRedeem,
  ReviewResubmit,
  ReviewWithdraw,
} from '@countersign/contracts';
import { newId } from '@countersign/event-store';
import { type CallerIdentity, contract, Identity, Problem, problemOf, type Reply, respond } from '@countersign/http';
import {
  executionToWire,
  type HandledReview,
  onReview,
  type RequestedReview,
  type ReviewCommand,
  recordExecution,
  redeem,
  redemptionToWire,
  resubmit,
  toWire,
  withdraw,
} from '@countersign/review';
import { Body, Controller, Headers, Inject, Param, Post, Put } from '@nestjs/common';
import { DEPS, type IntakeDeps } from './deps.js';
import { type AnsweredRequest, requestReview } from './request-review.js';

/** What agents do (HRP §1.2, §13). Every route is a command for one decider of libs/review. */
@Controller('/api/v1/reviews')
export class ReviewsController {
  constructor(@Inject(DEPS) private readonly deps: IntakeDeps) {}

  @Post()
  async create(
    @Identity() caller: CallerIdentity,
    @Headers('idempotency-key') header: string | undefined,
    @Body(contract(ReviewCreate)) body: ReviewCreate,
  ) {
    const handled = await requestReview(this.deps, caller, { ...body, idempotency_key: idempotencyKey(header, body) });
    const { options, ...reply } = answer(handled);
    return respond(reply.body, { ...options, status: handled.repeated ? 200 : 201, replayed: handled.repeated });
  }

  @Put(':id')
  async resubmit(
    @Identity() caller: CallerIdentity,
    @Param(contract(IdParams)) { id }: IdParams,
    @Body(contract(ReviewResubmit)) body: ReviewResubmit,
  ) {
    return answer(await this.#run(caller, id, (state, now) => resubmit({ actor: caller.actor, ...body }, state, now)));
  }

  @Post(':id/withdraw')
  async withdraw(
    @Identity() caller: CallerIdentity,
    @Param(contract(IdParams)) { id }: IdParams,
    @Body(contract(ReviewWithdraw)) { reason }: ReviewWithdraw,
  ) {
    return answer(await this.#run(caller, id, (state, now) => withdraw({ actor: caller.actor, reason }, state, now)));
  }

  @Post(':id/redeem')
  async redeem(
    @Identity() caller: CallerIdentity,
    @Param(contract(IdParams)) { id }: IdParams,
    @Body(contract(ReviewRedeem)) { value, digest, executor }: ReviewRedeem,
  ): Promise<Reply<Redemption>> {
    const presented = value === undefined ? { digest: digest as string } : { value };
    const redemption_id = newId('rdm');
    const handled = await this.#run(caller, id, (state, now) =>
      redeem({ actor: caller.actor, redemption_id, presented, executor }, state, now),
    );
    if (handled.refusal) throw problemOf(handled.refusal, handled);
    const { redemption } = approvalOf(handled);
    if (redemption === null) throw new Error(`Review ${id} was redeemed and holds no redemption.`);
    return respond(redemptionToWire(id, redemption), { seen: handled });
  }

  @Post(':id/executions')
  async execution(
    @Identity() caller: CallerIdentity,
    @Param(contract(IdParams)) { id }: IdParams,
    @Body(contract(ReviewExecution)) body: ReviewExecution,
  ): Promise<Reply<Execution>> {
    const execution_id = newId('exe');
    const handled = await this.#run(caller, id, (state, now) =>
      recordExecution({ actor: caller.actor, execution_id, ...body }, state, now),
    );
    if (handled.refusal) throw problemOf(handled.refusal, handled);
    const last = approvalOf(handled).executions.at(-1);
    if (last === undefined) throw new Error(`An execution was recorded for review ${id} and it holds none.`);
    return respond(executionToWire(id, last), { status: 201, seen: handled, replayed: handled.events.length === 0 });
  }

  #run(caller: CallerIdentity, review_id: string, decide: ReviewCommand['decide']): Promise<HandledReview> {
    return onReview(this.deps.store, { review_id, actor: caller.actor as AgentActor, request_id: caller.request_id, decide });
  }
}

function answer(handled: AnsweredRequest): Reply<Review> {
  if (handled.refusal) throw problemOf(handled.refusal, handled);
  return respond(toWire(handled.state as RequestedReview, handled.now), { seen: handled, replayed: handled.events.length === 0 });
}

function approvalOf(handled: HandledReview) {
  const review = handled.state as RequestedReview;
  if (!('outcome' in review) || review.outcome.kind !== 'decided') throw new Error(`Review ${review.id} is not decided.`);
  return review.outcome;
}

/** The header and the body may both name it, and then they must agree (decision 9). */
function idempotencyKey(header: string | undefined, body: ReviewCreate): string | undefined {
  if (header === undefined || header === '') return body.idempotency_key;
  if (body.idempotency_key !== undefined && body.idempotency_key !== header) {
    throw new Problem('idempotency_key_mismatch', undefined, { param: 'idempotency_key' });
  }
  if (header.length > 255) {
    throw new Problem('validation_failed', 'Idempotency-Key is longer than 255 characters.', { param: 'headers.idempotency-key' });
  }
  return header;
}
