/** Event types its group leaves. */
export { LEAVES as INTAKE_LEAVES } from './consumers.js';
export type { IntakeDeps } from './deps.js';
export { createIntakeApp } from './intake.module.js';
export { INTAKE_MIGRATIONS } from './migrations.js';
export { INTAKE_PROJECTION } from './projection.js';
export { requestReview } from './request-review.js';
export { INTAKE } from './service.js';
