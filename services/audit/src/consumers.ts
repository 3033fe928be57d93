import type { BatchContext } from '@countersign/event-bus';
import { OnEvents } from '@countersign/event-bus/nest-strategy';
import type { StoredEvent } from '@countersign/event-store';
import { Controller } from '@nestjs/common';
import { AUDIT_PROJECTION, AUDIT_TYPES } from './projection.js';

/** What this service consumes: everything. */
@Controller()
export class Consumers {
  @OnEvents(AUDIT_TYPES)
  async record(events: StoredEvent[], { tx }: BatchContext): Promise<void> {
    await AUDIT_PROJECTION.apply(tx, events, AUDIT_PROJECTION.schema);
  }
}
