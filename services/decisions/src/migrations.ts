import { fileURLToPath } from 'node:url';
import type { MigrationSet } from '@countersign/database';

/** Numbered SQL of schema `decisions`. */
export const DECISIONS_MIGRATIONS: MigrationSet = {
  name: 'decisions',
  directory: fileURLToPath(new URL('../migrations', import.meta.url)),
};
