import { fileURLToPath } from 'node:url';
import type { MigrationSet } from '@countersign/database';

/** The event store's schema; first in every list given to `migrate`. */
export const EVENT_STORE_MIGRATIONS: MigrationSet = {
  name: 'event_store',
  directory: fileURLToPath(new URL('../migrations', import.meta.url)),
};
