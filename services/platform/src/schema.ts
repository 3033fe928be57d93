import { AUDIT_MIGRATIONS } from '@countersign/audit/migrations';
import { BUCKETS } from '@countersign/contracts';
import { createPool, MigrationError, type MigrationSet, migrate } from '@countersign/database';
import { DECISIONS_MIGRATIONS } from '@countersign/decisions/migrations';
import { DIRECTORY_MIGRATIONS } from '@countersign/directory/migrations';
import { EVENT_BUS_MIGRATIONS } from '@countersign/event-bus/migrations';
import { EVENT_STORE_MIGRATIONS, hasBuckets } from '@countersign/event-store';
import { GATEWAY_MIGRATIONS } from '@countersign/gateway/migrations';
import { INTAKE_MIGRATIONS } from '@countersign/intake/migrations';
import type { Logger } from '@countersign/telemetry';
import { WEBHOOKS_MIGRATIONS } from '@countersign/webhooks/migrations';
import { CannotStart } from './cannot-start.js';

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

/** Brings a database to what every part of this program expects. @throws {CannotStart} when it is newer, not as it was left, or of another topology. */
export async function migrateAll(ownerUrl: string, logger: Logger): Promise<void> {
  try {
    await migrate(ownerUrl, MIGRATION_SETS, { warn: (message) => logger.warn(message) });
  } catch (error) {
    if (error instanceof MigrationError) throw new CannotStart(error.message, { cause: error });
    throw error;
  }
  await checkBuckets(ownerUrl);
}

/** @throws {CannotStart} */
async function checkBuckets(ownerUrl: string): Promise<void> {
  const pool = createPool({ connectionString: ownerUrl, max: 1, applicationName: 'countersign start' });
  try {
    if (await hasBuckets(pool, BUCKETS)) return;
  } finally {
    await pool.end();
  }
  throw new CannotStart(
    `This database does not spread its streams over the ${BUCKETS} buckets of this release, so events would be missed: use the release that made it, or another database.`,
  );
}
