import {
  type Actor,
  FeedbackQuery,
  IdParams,
  type PersonActor,
  type Review,
  ReviewGetQuery,
  ReviewListQuery,
  type Stats,
  type TemplateStats,
} from '@countersign/contracts';
import { type CallerIdentity, contract, Identity, listBody, Problem, pageOf, parseSeen, problemOf, SEEN_HEADER } from '@countersign/http';
import { loadReview, may, toWire, versionsOf } from '@countersign/review';
import { Controller, Get, Headers, Inject, Param, Query, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { type AuditContext, CONTEXT } from '../deps.js';
import { type Found, feedbackItem, listDecided, listReviews } from '../queries/reviews.js';
import { projectStats, templateStats } from '../queries/stats.js';
import { ownWrite, projectOf, templatesOf } from '../reader.js';
import { deliveryFailed, showReview } from './show-review.js';
import { waitForChange } from './wait-for-change.js';

/** Reading reviews, and what can be learnt from them (HRP §1.2, §1.4, §8). */
@Controller('/api/v1')
export class ReviewsController {
  constructor(@Inject(CONTEXT) private readonly context: AuditContext) {}

  @Get('reviews')
  async list(
    @Identity() { actor }: CallerIdentity,
    @Headers(SEEN_HEADER) seen: string | undefined,
    @Query(contract(ReviewListQuery)) query: ReviewListQuery,
  ) {
    await ownWrite(this.context, parseSeen(seen));
    const filter = { ...query, project: projectOf(actor), templates: templatesOf(actor) };
    return this.#shown(await listReviews(this.context.readModels, filter, pageOf(query)));
  }

  @Get('reviews/:id')
  async get(
    @Identity() caller: CallerIdentity,
    @Param(contract(IdParams)) { id }: IdParams,
    @Query(contract(ReviewGetQuery)) { wait }: ReviewGetQuery,
    @Headers('if-none-match') ifNoneMatch: string | undefined,
    @Req() request: FastifyRequest,
  ): Promise<Review> {
    if (!wait) return (await showReview(this.context, caller, id)).review;
    const gone = new AbortController();
    request.raw.once('close', () => request.raw.destroyed && gone.abort());
    return waitForChange(this.context, caller, id, { seconds: wait, ifNoneMatch, signal: gone.signal });
  }

  @Get('reviews/:id/versions')
  async versions(@Identity() { actor }: CallerIdentity, @Param(contract(IdParams)) { id }: IdParams) {
    const { state, events } = await loadReview(this.context.store, id);
    const permission = may(actor, 'read', state);
    if (!permission.ok) throw problemOf(permission.refusal);
    return { items: versionsOf(events) };
  }

  @Get('feedback')
  async feedback(
    @Identity() { actor }: CallerIdentity,
    @Headers(SEEN_HEADER) seen: string | undefined,
    @Query(contract(FeedbackQuery)) query: FeedbackQuery,
  ) {
    await ownWrite(this.context, parseSeen(seen));
    const filter = { template: query.template, outcome: query.outcome, project: projectOf(actor), templates: templatesOf(actor) };
    const found = await listDecided(this.context.readModels, filter, pageOf(query));
    return listBody(found.reviews.map(feedbackItem), found);
  }

  @Get('stats')
  async stats(@Identity() { actor }: CallerIdentity, @Headers(SEEN_HEADER) seen: string | undefined): Promise<Stats> {
    await ownWrite(this.context, parseSeen(seen));
    return projectStats(this.context.pool, projectOf(actor), templatesOf(actor));
  }

  @Get('templates/:id/stats')
  async templateStats(
    @Identity() caller: CallerIdentity,
    @Headers(SEEN_HEADER) seen: string | undefined,
    @Param(contract(IdParams)) { id }: IdParams,
  ): Promise<TemplateStats> {
    await ownWrite(this.context, parseSeen(seen));
    await this.#templateExists(caller, id);
    return templateStats(this.context.pool, projectOf(caller.actor), id);
  }

  /** Intake knows which templates there are, and which of them a key may see. */
  async #templateExists({ actor, request_id }: CallerIdentity, id: string): Promise<void> {
    const path = `/api/v1/templates/${encodeURIComponent(id)}`;
    const { status } = await this.context.client.call('intake', { method: 'GET', path, actor: reader(actor), request_id });
    if (status === 404) throw new Problem('template_not_found');
    if (status !== 200) throw new Problem('service_unavailable', 'The template cannot be checked right now. Try again.');
  }

  async #shown(found: Found) {
    const { now } = await this.context.store.head();
    const failed = await deliveryFailed(
      this.context,
      found.reviews.map((review) => review.id),
    );
    const items = found.reviews.map((review) => toWire(review, now, { notification_delivery_failed: failed.has(review.id) }));
    return listBody(items, found);
  }
}

/** The caller, with the right to read templates: seeing a template's counts takes `stats:read`, which the gateway has asked for. */
function reader(actor: Actor): Actor {
  return actor.kind === 'agent' ? { ...actor, scopes: [...actor.scopes, 'templates:read'] } : (actor as PersonActor);
}
