import { defineService } from '@countersign/service-host';
import { createMonitoringApp } from './monitoring.module.js';

export const MONITORING = defineService({
  name: 'monitoring',
  settings: {},
  migrations: [],
  async create(parts) {
    const app = await createMonitoringApp({ ...parts, wake: (act) => parts.bus.onAppend(act) });
    return { app, close: () => app.close() };
  },
});
