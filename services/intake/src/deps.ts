import type { Egress } from '@countersign/egress';
import type { EventBus } from '@countersign/event-bus';
import type { EventStore } from '@countersign/event-store';
import type { ServiceClient } from '@countersign/http';
import type { Logger } from '@countersign/telemetry';
import type { Pool } from 'pg';

/** What the service works with. */
export interface IntakeDeps {
  /** As writer `intake`. */
  store: EventStore;
  /** Connections under the application's role. */
  pool: Pool;
  bus: EventBus;
  client: ServiceClient;
  egress: Pick<Egress, 'checkCallbackUrl'>;
  logger: Logger;
  identityKey: string;
}

export const DEPS = Symbol('IntakeDeps');
