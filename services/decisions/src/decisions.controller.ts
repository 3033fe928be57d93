import {
  IdParams,
  operationOf,
  type PersonActor,
  type Review,
  ReviewAction,
  ReviewAssign,
  ReviewCancelRequest,
  ReviewClaimQuery,
  ReviewDecide,
  ReviewDraft,
  ReviewRetry,
} from '@countersign/contracts';
import { type CallerIdentity, contract, findPerson, Identity, isRoleRef, Problem, problemOf, type Reply, respond } from '@countersign/http';
import {
  type ActionChoice,
  type ActOnReview,
  act,
  archive,
  assign,
  claim,
  type HandledReview,
  loadReview,
  may,
  mayDraft,
  onReview,
  type RequestedReview,
  type ReviewCommand,
  release,
  toWire,
  unarchive,
} from '@countersign/review';
import { Body, Controller, Delete, Get, Inject, Param, Post, Put, Query } from '@nestjs/common';
import { DEPS, type DecisionsDeps } from './deps.js';
import { discardDraft, loadDraft, saveDraft } from './drafts.js';

const ALIASES = { approved: 'approved', edited: 'approved', rejected: 'rejected' } as const;

type Said = Omit<ActOnReview, 'actor' | 'action'>;

/** What people do to a review (HRP §2.4–2.7). Every route is a command for one decider of libs/review. */
@Controller()
export class DecisionsController {
  constructor(@Inject(DEPS) private readonly deps: DecisionsDeps) {}

  @Post('/api/v1/reviews/:id/action')
  async action(
    @Identity() caller: CallerIdentity,
    @Param(contract(IdParams)) { id }: IdParams,
    @Body(contract(ReviewAction)) { action_id, ...said }: ReviewAction,
  ) {
    return answer(await this.#act(caller, id, { id: action_id }, said));
  }

  @Post('/api/v1/reviews/:id/decide')
  async decide(
    @Identity() caller: CallerIdentity,
    @Param(contract(IdParams)) { id }: IdParams,
    @Body(contract(ReviewDecide)) { decision, action_value, action_label: _label, reviewer: _reviewer, ...said }: ReviewDecide,
  ) {
    const choice = { alias: ALIASES[decision as keyof typeof ALIASES], value: action_value };
    return deprecated('decideReview', id, await this.#act(caller, id, choice, said));
  }

  @Post('/api/v1/reviews/:id/retry')
  async retry(
    @Identity() caller: CallerIdentity,
    @Param(contract(IdParams)) { id }: IdParams,
    @Body(contract(ReviewRetry)) said: ReviewRetry,
  ) {
    return deprecated('retryReview', id, await this.#act(caller, id, { alias: 'request_changes' }, said));
  }

  @Post('/api/v1/reviews/:id/cancel-request')
  async cancelRequest(
    @Identity() caller: CallerIdentity,
    @Param(contract(IdParams)) { id }: IdParams,
    @Body(contract(ReviewCancelRequest)) said: ReviewCancelRequest,
  ) {
    return deprecated('cancelReviewRequest', id, await this.#act(caller, id, { alias: 'cancel_iteration' }, said));
  }

  @Post('/api/v1/reviews/:id/claim')
  async claim(
    @Identity() caller: CallerIdentity,
    @Param(contract(IdParams)) { id }: IdParams,
    @Query(contract(ReviewClaimQuery)) { force }: ReviewClaimQuery,
  ) {
    return answer(await this.#run(caller, id, (state, now) => claim({ actor: caller.actor, force }, state, now)));
  }

  @Post('/api/v1/reviews/:id/release')
  async release(@Identity() caller: CallerIdentity, @Param(contract(IdParams)) { id }: IdParams) {
    return answer(await this.#run(caller, id, (state, now) => release({ actor: caller.actor }, state, now)));
  }

  @Post('/api/v1/reviews/:id/assign')
  async assign(
    @Identity() caller: CallerIdentity,
    @Param(contract(IdParams)) { id }: IdParams,
    @Body(contract(ReviewAssign)) { assignee: asked, hold: held }: ReviewAssign,
  ) {
    const given = await this.#assignee(caller, id, asked, held ?? false);
    return answer(await this.#run(caller, id, (state, now) => assign({ actor: caller.actor, ...given }, state, now)));
  }

  @Post('/api/v1/reviews/:id/archive')
  async archive(@Identity() caller: CallerIdentity, @Param(contract(IdParams)) { id }: IdParams) {
    return answer(await this.#run(caller, id, (state, now) => archive({ actor: caller.actor }, state, now)));
  }

  @Post('/api/v1/reviews/:id/unarchive')
  async unarchive(@Identity() caller: CallerIdentity, @Param(contract(IdParams)) { id }: IdParams) {
    return answer(await this.#run(caller, id, (state, now) => unarchive({ actor: caller.actor }, state, now)));
  }

  @Delete('/api/v1/reviews/:id')
  async delete(@Identity() caller: CallerIdentity, @Param(contract(IdParams)) { id }: IdParams) {
    const handled = await this.#run(caller, id, (state, now) => archive({ actor: caller.actor }, state, now));
    return respond({ ok: true }, { ...answer(handled).options });
  }

  @Put('/api/v1/reviews/:id/draft')
  async saveDraft(
    @Identity() caller: CallerIdentity,
    @Param(contract(IdParams)) { id }: IdParams,
    @Body(contract(ReviewDraft)) { draft_payload }: ReviewDraft,
  ) {
    const review = await this.#draftable(caller, id, draft_payload);
    const { person_id, name, email } = caller.actor as PersonActor;
    await saveDraft(this.deps.pool, {
      review: id,
      project: review.project_id,
      person: person_id,
      author: name || email,
      payload: draft_payload,
    });
    // Settled while it was being saved: what drops drafts may have passed before it was there.
    const { state, now } = await loadReview(this.deps.store, id);
    const refusal = mayDraft(caller.actor, state, now, draft_payload);
    if (refusal?.code === 'not_pending') await discardDraft(this.deps.pool, id);
    if (refusal) throw problemOf(refusal);
    return { ok: true };
  }

  @Delete('/api/v1/reviews/:id/draft')
  async discardDraft(@Identity() caller: CallerIdentity, @Param(contract(IdParams)) { id }: IdParams) {
    await this.#draftable(caller, id, {});
    await discardDraft(this.deps.pool, id);
    return { ok: true };
  }

  @Get('/internal/reviews/:id/draft')
  async draft(@Param(contract(IdParams)) { id }: IdParams) {
    return { draft: await loadDraft(this.deps.pool, id) };
  }

  #act(caller: CallerIdentity, id: string, action: ActionChoice, said: Said): Promise<HandledReview> {
    return this.#run(caller, id, (state, now) => act({ actor: caller.actor, action, ...said }, state, now));
  }

  #run(caller: CallerIdentity, review_id: string, decide: ReviewCommand['decide']): Promise<HandledReview> {
    return onReview(this.deps.store, { review_id, actor: caller.actor, request_id: caller.request_id, decide });
  }

  /** The review, when its reader may keep a draft of these edits. */
  async #draftable(caller: CallerIdentity, id: string, edits: Record<string, unknown>): Promise<RequestedReview> {
    const { state, now } = await loadReview(this.deps.store, id);
    const refusal = mayDraft(caller.actor, state, now, edits);
    if (refusal) throw problemOf(refusal);
    return state as RequestedReview;
  }

  /** Who the review is given to, as the directory knows them; looked up only for those who may assign at all. */
  async #assignee(caller: CallerIdentity, id: string, asked: string, held: boolean) {
    const { state } = await loadReview(this.deps.store, id);
    const permission = may(caller.actor, 'assign', state);
    if (!permission.ok) throw problemOf(permission.refusal);
    if (isRoleRef(asked)) return { assignee: asked, assignee_id: null, hold: held ? { ref: asked, person_id: null } : null };
    const { project_id } = state as RequestedReview;
    const person = await findPerson(this.deps.client, { project_id, ref: asked, request_id: caller.request_id });
    if (!person) throw new Problem('invalid_assignee', 'No member of this project has this e-mail address or id.', { param: 'assignee' });
    const { email, person_id } = person;
    return { assignee: email, assignee_id: person_id, hold: held ? { ref: `reviewer:${email}`, person_id } : null };
  }
}

/** The review as it stands after the command; a refusal is thrown to the edge, where it gets its status. */
function answer(handled: HandledReview): Reply<Review> {
  if (handled.refusal) throw problemOf(handled.refusal, handled);
  return respond(toWire(handled.state as RequestedReview, handled.now), { seen: handled, replayed: handled.events.length === 0 });
}

function deprecated(id: 'decideReview' | 'retryReview' | 'cancelReviewRequest', review: string, handled: HandledReview): Reply<Review> {
  const { successor, sunset } = operationOf(id).deprecated;
  const { body, options } = answer(handled);
  return respond(body, { ...options, deprecated: { successor: successor.replace('{id}', review), sunset } });
}
