import { fileURLToPath } from 'node:url';

export { createDecisionsApp } from './decisions.module.js';
export type { DecisionsDeps } from './deps.js';
export { DECISIONS_PROJECTION } from './projection.js';

/** Numbered SQL of schema `decisions`. */
export const DECISIONS_MIGRATIONS = { name: 'decisions', directory: fileURLToPath(new URL('../migrations', import.meta.url)) };
