import { type BatchContext, OnEvents } from '@countersign/event-bus';
import type { StoredEvent } from '@countersign/event-store';
import { Controller, Inject } from '@nestjs/common';
import { TOLD_EVENTS, UNTOLD_EVENTS } from './bodies.js';
import { PARTS, type Parts } from './deps.js';
import { forgetErased, noteReplays, queueDeliveries } from './reactions.js';

/** What the service follows: the reviews, for what agents are told of them and for their erasure, and its own deliveries, for those that somebody has sent again. */
export const SUBSCRIPTION = {
  group: 'webhooks',
  categories: ['review', 'delivery'],
  leaves: [...UNTOLD_EVENTS, 'delivery.succeeded', 'delivery.dead_lettered'],
};

@Controller()
export class Consumers {
  constructor(@Inject(PARTS) private readonly parts: Parts) {}

  @OnEvents(TOLD_EVENTS)
  told(events: StoredEvent[], context: BatchContext): Promise<void> {
    return queueDeliveries(this.parts, events, context);
  }

  @OnEvents('delivery.replayed')
  replayed(events: StoredEvent[], context: BatchContext): Promise<void> {
    return noteReplays(events, context);
  }

  @OnEvents('stream.redacted')
  erased(events: StoredEvent[], context: BatchContext): Promise<void> {
    return forgetErased(this.parts, events, context);
  }
}
