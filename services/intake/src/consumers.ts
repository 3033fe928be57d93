import { typesBut } from '@countersign/contracts';
import type { BatchContext } from '@countersign/event-bus';
import { OnEvents } from '@countersign/event-bus/nest-strategy';
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
export const LEAVES = typesBut(['template', 'review'], INTAKE_TYPES);
