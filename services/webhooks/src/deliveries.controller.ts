import { DeliveryListQuery, DeliveryReplay, IdParams, WebhookTest } from '@countersign/contracts';
import {
  type CallerIdentity,
  contract,
  decodeCursor,
  encodeCursor,
  Identity,
  listBody,
  Problem,
  pageOf,
  problemOf,
  respond,
} from '@countersign/http';
import { Body, Controller, Get, Inject, Param, Post, Query } from '@nestjs/common';
import { type Caller, replayDeliveries, retryDelivery } from './commands/replay.js';
import { testWebhook } from './commands/test.js';
import { PARTS, type Parts } from './deps.js';
import { COUNTED, isPlace, listDeliveries, type Place, readDelivery } from './log/deliveries.js';
import { deliveryOf, detailOf } from './log/wire.js';

/** The delivery log and what can be done about it (HRP §1.4, §13). */
@Controller()
export class DeliveriesController {
  constructor(@Inject(PARTS) private readonly parts: Parts) {}

  @Get('/api/v1/webhooks/deliveries')
  async list(@Identity() identity: CallerIdentity, @Query(contract(DeliveryListQuery)) query: DeliveryListQuery) {
    const { limit, offset, cursor, ...filter } = query;
    const page = pageOf({ limit, offset, cursor });
    const after = page.cursor === undefined ? null : decodeCursor<Place>(page.cursor, isPlace);
    const { rows, hasMore, matches } = await listDeliveries(this.parts.pool, unlimited(identity).actor.project_id, filter, {
      ...page,
      after,
    });
    const items = rows.map((row) => deliveryOf(row, this.#round));
    const last = items.at(-1);
    return listBody(items, {
      total: Math.min(matches, COUNTED),
      totalIsCapped: matches > COUNTED,
      hasMore,
      nextCursor: last && encodeCursor({ at: last.created_at, id: last.id } satisfies Place),
    });
  }

  @Get('/api/v1/webhooks/deliveries/:id')
  async read(@Identity() identity: CallerIdentity, @Param(contract(IdParams)) { id }: IdParams) {
    const found = await readDelivery(this.parts.pool, unlimited(identity).actor.project_id, id);
    if (!found) throw new Problem('delivery_not_found');
    return detailOf(found.row, found.attempts, this.#round);
  }

  @Post('/api/v1/webhooks/deliveries/:id/retry')
  async retry(@Identity() identity: CallerIdentity, @Param(contract(IdParams)) { id }: IdParams) {
    const queued = await retryDelivery(this.parts, unlimited(identity), id);
    if ('code' in queued) throw problemOf(queued);
    return respond({ id, status: 'pending', queued_at: queued.queuedAt }, { seen: queued.seen });
  }

  @Post('/api/v1/webhooks/deliveries/replay')
  async replay(@Identity() identity: CallerIdentity, @Body(contract(DeliveryReplay)) filter: DeliveryReplay) {
    const { queued, queuedAt, seen } = await replayDeliveries(this.parts, unlimited(identity), filter);
    return respond({ queued, queued_at: queuedAt }, { seen });
  }

  @Post('/api/v1/webhooks/test')
  async test(@Identity() identity: CallerIdentity, @Body(contract(WebhookTest)) { url }: WebhookTest) {
    const { actor, request_id } = callerOf(identity);
    const result = await testWebhook(this.parts, { project: actor.project_id, request_id, isPerson: actor.kind === 'person' }, url);
    if ('code' in result) throw problemOf(result);
    return result;
  }

  get #round(): number {
    return this.parts.config.backoff.length + 1;
  }
}

/** Everything here belongs to a project, and nobody is in one without a credential. */
function callerOf({ actor, request_id }: CallerIdentity): Caller {
  if (actor.kind === 'anonymous') throw new Problem('missing_credentials');
  return { actor, request_id };
}

/** What is delivered is the whole project's, its bodies included: it is not for a key that is limited to some templates (decision 15). */
function unlimited(identity: CallerIdentity): Caller {
  const caller = callerOf(identity);
  if (caller.actor.kind !== 'agent' || caller.actor.template_ids === null) return caller;
  throw new Problem(
    'template_not_allowed',
    'Deliveries cover the whole project; an API key limited to certain templates cannot access them.',
  );
}
