import { defineService } from '@countersign/service-host';
import { createDecisionsApp } from './decisions.module.js';
import { DECISIONS_MIGRATIONS } from './migrations.js';

export const DECISIONS = defineService({
  name: 'decisions',
  settings: {},
  migrations: [DECISIONS_MIGRATIONS],
  async create(parts) {
    const app = await createDecisionsApp(parts);
    return { app, close: () => app.close() };
  },
});
