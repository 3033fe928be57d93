import { createEgress, EGRESS_SETTINGS } from '@countersign/egress';
import { defineService } from '@countersign/service-host';
import { createIntakeApp } from './intake.module.js';
import { INTAKE_MIGRATIONS } from './migrations.js';

export const INTAKE = defineService({
  name: 'intake',
  settings: { egress: EGRESS_SETTINGS },
  migrations: [INTAKE_MIGRATIONS],
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
