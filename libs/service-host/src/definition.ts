import type { ConfigOfGroups, SettingGroups } from '@countersign/config';
import type { ServiceName } from '@countersign/contracts';
import type { MigrationSet } from '@countersign/database';
import type { EventBus } from '@countersign/event-bus';
import type { EventStore } from '@countersign/event-store';
import type { ReadyCheck, ServiceClient } from '@countersign/http';
import type { Logger } from '@countersign/telemetry';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Pool } from 'pg';

/** What a service is given, in one process and as a process of its own alike. */
export interface ServiceParts {
  /** Connections under the application's role. */
  pool: Pool;
  /** Appends as the writer the service is. */
  store: EventStore;
  bus: EventBus;
  /** Reaches the other services. */
  client: ServiceClient;
  /** Verifies who is let in, and signs what `client` sends. */
  identityKey: string;
  /** Unix milliseconds of the database's wall clock, which all processes share. */
  now: () => number;
  /** What `/health/ready` asks. */
  ready: () => Promise<Record<string, ReadyCheck>>;
  /** For connections that listen for notifications. */
  databaseUrl: string;
  logger: Logger;
  version: string;
  /** How the product is deployed, as GET /api/v1 names it. */
  mode: 'all-in-one' | 'services';
}

export interface HostedService {
  /** Ready to be listened with, or injected into. */
  app: NestFastifyApplication;
  /** Begins work of its own that needs other services, once they can be reached. */
  start?(): Promise<void>;
  /** Finishes what is under way; nothing is consumed, fired or sent afterwards. */
  close(): Promise<void>;
}

/** A service as its host knows it: a name, its settings, and how it is made. */
export interface ServiceDefinition<Groups extends SettingGroups = SettingGroups> {
  name: ServiceName;
  settings: Groups;
  /** Of its own schema; the event store's and the event bus's are its host's. */
  migrations: readonly MigrationSet[];
  create(parts: ServiceParts, config: ConfigOfGroups<Groups>): Promise<HostedService>;
}

/** Keeps the types of a definition's settings. */
export const defineService = <const Groups extends SettingGroups>(definition: ServiceDefinition<Groups>): ServiceDefinition<Groups> =>
  definition;
