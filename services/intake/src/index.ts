import { fileURLToPath } from 'node:url';

export type { IntakeDeps } from './deps.js';
export { createIntakeApp } from './intake.module.js';
export { INTAKE_PROJECTION } from './projection.js';

/** Numbered SQL of schema `intake`. */
export const INTAKE_MIGRATIONS = { name: 'intake', directory: fileURLToPath(new URL('../migrations', import.meta.url)) };
