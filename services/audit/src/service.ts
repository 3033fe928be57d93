import { defineService } from '@countersign/service-host';
import { createAuditApp } from './audit.module.js';

export const AUDIT = defineService({
  name: 'audit',
  settings: {},
  async create(parts) {
    const app = await createAuditApp(parts);
    return { app, close: () => app.close() };
  },
});
