import { typesBut } from '@countersign/contracts';
import type { BatchContext } from '@countersign/event-bus';
import { OnEvents } from '@countersign/event-bus/nest-strategy';
import { REDACTED, type StoredEvent } from '@countersign/event-store';
import { Controller, Inject } from '@nestjs/common';
import { followHands } from './departures.js';
import { DEPS, type DecisionsDeps } from './deps.js';
import { dropStaleDrafts } from './drafts.js';
import { DECISIONS_TYPES } from './projection.js';

/** Facts that leave a draft without a purpose. Erased: what was typed about it goes too. */
const PAST_DRAFTS: readonly string[] = [
  'review.decided',
  'review.expired',
  'review.withdrawn',
  'review.changes_requested',
  'review.iteration_cancelled',
  'review.resubmitted',
  REDACTED,
];

const HANDLES = [...new Set([...PAST_DRAFTS, ...DECISIONS_TYPES])];

/** What this service consumes: facts that make a draft pointless, that put a review into somebody's hands, and that somebody left. */
@Controller()
export class Consumers {
  constructor(@Inject(DEPS) private readonly deps: DecisionsDeps) {}

  @OnEvents(HANDLES)
  async happened(events: StoredEvent[], context: BatchContext): Promise<void> {
    const past = events.filter((event) => PAST_DRAFTS.includes(event.type));
    await dropStaleDrafts(
      context.tx,
      past.map(({ stream, time }) => ({ review: stream, time })),
    );
    await followHands(this.deps.store, events, context);
  }
}

/** Types of the two categories that say nothing about either. */
export const LEAVES = typesBut(['review', 'project'], HANDLES);
