import { fileURLToPath } from 'node:url';
import type { MigrationSet } from '@countersign/database';

/** Numbered SQL of schema `audit`. */
export const AUDIT_MIGRATIONS: MigrationSet = {
  name: 'audit',
  directory: fileURLToPath(new URL('../migrations', import.meta.url)),
};
