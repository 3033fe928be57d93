import { createEgress, EGRESS_SETTINGS } from '@countersign/egress';
import { defineService } from '@countersign/service-host';
import { createIntakeApp } from './intake.module.js';

export const INTAKE = defineService({
  name: 'intake',
  settings: { egress: EGRESS_SETTINGS },
  async create(parts, { egress: { allowNetworks } }) {
    const egress = createEgress({ allowNetworks });
    const app = await createIntakeApp({ ...parts, egress });
    return {
      app,
      async close() {
        await app.close();
        await egress.close();
      },
    };
  },
});
