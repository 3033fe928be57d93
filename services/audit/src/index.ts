export { createAuditApp } from './audit.module.js';
export type { AuditDeps } from './deps.js';
export { AUDIT_MIGRATIONS } from './migrations.js';
export { AUDIT_PROJECTION } from './projection.js';
export { AUDIT } from './service.js';
