import { typesBut } from '@countersign/contracts';
import type { BatchContext } from '@countersign/event-bus';
import { OnEvents } from '@countersign/event-bus/nest-strategy';
import { REDACTED, type StoredEvent } from '@countersign/event-store';
import { Controller, Inject } from '@nestjs/common';
import { PARTS, type Parts } from './deps.js';
import { TOLD_EVENTS } from './message/bodies.js';
import { forgetErased, noteReplays, queueDeliveries } from './reactions.js';

const REPLAYED = 'delivery.replayed';

/** What the service follows: the reviews, for what agents are told of them and for their erasure, and its own deliveries, for those that somebody has sent again. */
export const SUBSCRIPTION = {
  group: 'webhooks',
  categories: ['review', 'delivery'],
  /** Agents' own doing, the reviewers' business among themselves, and how deliveries ended. */
  leaves: typesBut(['review', 'delivery'], [...TOLD_EVENTS, REPLAYED]),
};

@Controller()
export class Consumers {
  constructor(@Inject(PARTS) private readonly parts: Parts) {}

  @OnEvents(TOLD_EVENTS)
  told(events: StoredEvent[], context: BatchContext): Promise<void> {
    return queueDeliveries(this.parts, events, context);
  }

  @OnEvents(REPLAYED)
  replayed(events: StoredEvent[], context: BatchContext): Promise<void> {
    return noteReplays(events, context);
  }

  @OnEvents(REDACTED)
  erased(events: StoredEvent[], context: BatchContext): Promise<void> {
    return forgetErased(this.parts, events, context);
  }
}
