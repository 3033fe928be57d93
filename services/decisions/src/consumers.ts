import type { BatchContext } from '@countersign/event-bus';
import { OnEvents } from '@countersign/event-bus';
import type { StoredEvent } from '@countersign/event-store';
import { Controller } from '@nestjs/common';
import { dropStaleDrafts } from './drafts.js';

/** What this service consumes: facts that leave a draft without a purpose. */
@Controller()
export class Consumers {
  @OnEvents([
    'review.decided',
    'review.expired',
    'review.withdrawn',
    'review.changes_requested',
    'review.iteration_cancelled',
    'review.resubmitted',
    // Erased: what was typed about it goes too.
    'stream.redacted',
  ])
  async settled(events: StoredEvent[], { tx }: BatchContext): Promise<void> {
    await dropStaleDrafts(
      tx,
      events.map(({ stream, time }) => ({ review: stream, time })),
    );
  }
}

/** Types of the category that change nothing about a draft. */
export const LEAVES = [
  'review.requested',
  'review.action_taken',
  'review.changes_timed_out',
  'review.reminded',
  'review.claimed',
  'review.released',
  'review.assigned',
  'review.unassigned',
  'review.archived',
  'review.unarchived',
  'review.redeemed',
  'review.executed',
  'review.late_attempt_refused',
];
