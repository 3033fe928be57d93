import { defineService } from '@countersign/service-host';
import { createAuditApp } from './audit.module.js';
import { AUDIT_MIGRATIONS } from './migrations.js';

export const AUDIT = defineService({
  name: 'audit',
  settings: {},
  migrations: [AUDIT_MIGRATIONS],
  async create(parts) {
    const app = await createAuditApp(parts);
    return { app, close: () => app.close() };
  },
});
