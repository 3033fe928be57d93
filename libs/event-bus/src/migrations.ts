import { fileURLToPath } from 'node:url';
import type { MigrationSet } from '@countersign/database';

/** The event bus's schema; after the event store's. */
export const EVENT_BUS_MIGRATIONS: MigrationSet = {
  name: 'event_bus',
  directory: fileURLToPath(new URL('../migrations', import.meta.url)),
};
