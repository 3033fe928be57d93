import { fileURLToPath } from 'node:url';
import type { MigrationSet } from '@countersign/database';

/** The gateway's schema, after the event store's. */
export const GATEWAY_MIGRATIONS: MigrationSet = { name: 'gateway', directory: fileURLToPath(new URL('../migrations', import.meta.url)) };
