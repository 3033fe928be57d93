import { type BatchContext, OnEvents } from '@countersign/event-bus';
import type { StoredEvent } from '@countersign/event-store';
import { Controller } from '@nestjs/common';
import { INTAKE_PROJECTION, INTAKE_TYPES } from './projection.js';

/** What this service consumes: its own templates, and which reviews are still open. */
@Controller()
export class Consumers {
  @OnEvents(INTAKE_TYPES)
  async project(events: StoredEvent[], { tx }: BatchContext): Promise<void> {
    await INTAKE_PROJECTION.apply(tx, events, INTAKE_PROJECTION.schema);
  }
}

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
  'review.unassigned',
  'review.archived',
  'review.unarchived',
  'review.redeemed',
  'review.executed',
  'review.late_attempt_refused',
];
