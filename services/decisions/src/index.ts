/** Event types its group leaves. */
export { LEAVES as DECISIONS_LEAVES } from './consumers.js';
export { createDecisionsApp } from './decisions.module.js';
export type { DecisionsDeps } from './deps.js';
export { DECISIONS_MIGRATIONS } from './migrations.js';
export { DECISIONS_PROJECTION } from './projection.js';
export { DECISIONS } from './service.js';
