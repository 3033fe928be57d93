import type { EventBus } from '@countersign/event-bus';
import type { EventStore } from '@countersign/event-store';
import type { ReadyCheck, ServiceClient } from '@countersign/http';
import type { Logger } from '@countersign/telemetry';
import type { Pool } from 'pg';

/** What the service works with. */
export interface DecisionsDeps {
  /** As writer `decisions`. */
  store: EventStore;
  /** Connections under the application's role. */
  pool: Pool;
  bus: EventBus;
  client: ServiceClient;
  logger: Logger;
  identityKey: string;
  /** How `createServiceApp` is told the time, where a host says otherwise, and asked for readiness. */
  now?: () => number;
  ready: () => Promise<Record<string, ReadyCheck>>;
}

export const DEPS = Symbol('DecisionsDeps');
