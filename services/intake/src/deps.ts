import type { Egress } from '@countersign/egress';
import type { EventBus } from '@countersign/event-bus';
import type { EventStore } from '@countersign/event-store';
import type { ReadyCheck, ServiceClient } from '@countersign/http';
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
  /** How `createServiceApp` is told the time, where a host says otherwise, and asked for readiness. */
  now?: () => number;
  ready: () => Promise<Record<string, ReadyCheck>>;
}

export const DEPS = Symbol('IntakeDeps');
