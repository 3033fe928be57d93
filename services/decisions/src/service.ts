import { defineService } from '@countersign/service-host';
import { createDecisionsApp } from './decisions.module.js';

export const DECISIONS = defineService({
  name: 'decisions',
  settings: {},
  async create(parts) {
    const app = await createDecisionsApp(parts);
    return { app, close: () => app.close() };
  },
});
