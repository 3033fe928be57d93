import { fileURLToPath } from 'node:url';

export { createAuditApp } from './audit.module.js';
export type { AuditDeps } from './deps.js';
export { AUDIT_PROJECTION } from './projection.js';
export { AUDIT } from './service.js';

/** Numbered SQL of schema `audit`. */
export const AUDIT_MIGRATIONS = { name: 'audit', directory: fileURLToPath(new URL('../migrations', import.meta.url)) };
