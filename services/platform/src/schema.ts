import { MigrationError, migrate } from '@countersign/database';
import { EVENT_STORE_MIGRATIONS } from '@countersign/event-store';
import type { Logger } from '@countersign/telemetry';
import { CannotStart } from './cannot-start.js';

/** Category of a stream → prefix of its id. */
export const PREFIXES = { review: 'rev', template: 'tpl', project: 'prj', person: 'per', key: 'key', delivery: 'whd' } as const;

/** In the order their schemas refer to each other. */
const MIGRATION_SETS = [EVENT_STORE_MIGRATIONS];

/** Brings a database to what every part of this program expects. @throws {CannotStart} when it is newer, or not as it was left. */
export async function migrateAll(ownerUrl: string, logger: Logger): Promise<void> {
  try {
    await migrate(ownerUrl, MIGRATION_SETS, { warn: (message) => logger.warn(message) });
  } catch (error) {
    if (error instanceof MigrationError) throw new CannotStart(error.message, { cause: error });
    throw error;
  }
}
