import { fileURLToPath } from 'node:url';
import type { MigrationSet } from '@countersign/database';

/** The directory's schema; after the event store's, whose clock it reads. */
export const DIRECTORY_MIGRATIONS: MigrationSet = {
  name: 'directory',
  directory: fileURLToPath(new URL('../migrations', import.meta.url)),
};
