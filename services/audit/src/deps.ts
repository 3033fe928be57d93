import type { EventBus } from '@countersign/event-bus';
import type { EventStore } from '@countersign/event-store';
import type { ReadyCheck, ServiceClient } from '@countersign/http';
import type { Logger } from '@countersign/telemetry';
import type { Pool } from 'pg';
import type { DataSource } from 'typeorm';
import type { ReviewChanges } from './reviews/review-changes.js';

/** What the service works with. */
export interface AuditDeps {
  /** Reads only. */
  store: EventStore;
  /** Connections under the application's role. */
  pool: Pool;
  /** The same database, for the read models' queries. */
  databaseUrl: string;
  bus: EventBus;
  client: ServiceClient;
  logger: Logger;
  identityKey: string;
  /** How `createServiceApp` is told the time, where a host says otherwise, and asked for readiness. */
  now?: () => number;
  ready: () => Promise<Record<string, ReadyCheck>>;
}

/** What the controllers work with. */
export interface AuditContext extends AuditDeps {
  readModels: DataSource;
  changes: ReviewChanges;
  /** Ends the reading of metrics. */
  unobserve(): void;
}

export const CONTEXT = Symbol('AuditContext');
