import { fileURLToPath } from 'node:url';
import type { MigrationSet } from '@countersign/database';

/** Deliveries, attempts and endpoints; after the event store's in the list given to `migrate`. */
export const WEBHOOKS_MIGRATIONS: MigrationSet = {
  name: 'webhooks',
  directory: fileURLToPath(new URL('../migrations', import.meta.url)),
};
