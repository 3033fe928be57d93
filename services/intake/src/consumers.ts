import { type BatchContext, OnEvents } from '@countersign/event-bus';
import type { ReviewEvent, TemplateEvent } from '@countersign/contracts';
import type { StoredEvent } from '@countersign/event-store';
import { Controller } from '@nestjs/common';
import { applyOpenReviews, OPENING, SETTLING } from './projections/open-reviews.js';
import { applyTemplates, TEMPLATE_TYPES } from './projections/templates.js';

/** What this service consumes: its own templates, and which reviews are still open. */
@Controller()
export class Consumers {
  @OnEvents(TEMPLATE_TYPES)
  async templates(events: StoredEvent<TemplateEvent>[], { tx }: BatchContext): Promise<void> {
    await applyTemplates(tx, events);
  }

  @OnEvents([...OPENING, ...SETTLING])
  async reviews(events: StoredEvent<ReviewEvent>[], { tx }: BatchContext): Promise<void> {
    await applyOpenReviews(tx, events);
  }
}

export const GROUP = 'intake';

/** Types of the two categories that say nothing about either. */
export const LEAVES = [
  'review.resubmitted',
  'review.changes_requested',
  'review.action_taken',
  'review.iteration_cancelled',
  'review.changes_timed_out',
  'review.reminded',
  'review.claimed',
  'review.released',
  'review.assigned',
  'review.archived',
  'review.unarchived',
  'review.redeemed',
  'review.executed',
  'review.late_attempt_refused',
  'stream.redacted',
];
