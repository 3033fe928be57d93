import { fileURLToPath } from 'node:url';
import { AUDIT_MIGRATIONS } from '@countersign/audit';
import { MigrationError, type MigrationSet, migrate } from '@countersign/database';
import { DECISIONS_MIGRATIONS } from '@countersign/decisions';
import { DIRECTORY_MIGRATIONS } from '@countersign/directory';
import { EVENT_STORE_MIGRATIONS } from '@countersign/event-store';
import { GATEWAY_MIGRATIONS } from '@countersign/gateway';
import { INTAKE_MIGRATIONS } from '@countersign/intake';
import type { Logger } from '@countersign/telemetry';
import { WEBHOOKS_MIGRATIONS } from '@countersign/webhooks';
import { CannotStart } from './cannot-start.js';

/** Category of a stream → prefix of its id. */
export const PREFIXES = { review: 'rev', template: 'tpl', project: 'prj', person: 'per', key: 'key', delivery: 'whd' } as const;

const EVENT_BUS_MIGRATIONS: MigrationSet = {
  name: 'event_bus',
  directory: fileURLToPath(new URL('../../../libs/event-bus/migrations', import.meta.url)),
};

/** In the order their schemas refer to each other. */
export const MIGRATION_SETS: readonly MigrationSet[] = [
  EVENT_STORE_MIGRATIONS,
  EVENT_BUS_MIGRATIONS,
  DIRECTORY_MIGRATIONS,
  INTAKE_MIGRATIONS,
  DECISIONS_MIGRATIONS,
  WEBHOOKS_MIGRATIONS,
  AUDIT_MIGRATIONS,
  GATEWAY_MIGRATIONS,
];

/** Brings a database to what every part of this program expects. @throws {CannotStart} when it is newer, or not as it was left. */
export async function migrateAll(ownerUrl: string, logger: Logger): Promise<void> {
  try {
    await migrate(ownerUrl, MIGRATION_SETS, { warn: (message) => logger.warn(message) });
  } catch (error) {
    if (error instanceof MigrationError) throw new CannotStart(error.message, { cause: error });
    throw error;
  }
}
