import { fileURLToPath } from 'node:url';
import type { MigrationSet } from '@countersign/database';

/** Numbered SQL of schema `intake`. */
export const INTAKE_MIGRATIONS: MigrationSet = {
  name: 'intake',
  directory: fileURLToPath(new URL('../migrations', import.meta.url)),
};
