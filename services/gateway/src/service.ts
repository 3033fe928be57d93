import { defineService } from '@countersign/service-host';
import { GATEWAY_SETTINGS } from './config.js';
import { createGatewayApp } from './gateway-app.js';
import { GATEWAY_MIGRATIONS } from './migrations.js';

export const GATEWAY = defineService({
  name: 'gateway',
  settings: { gateway: GATEWAY_SETTINGS },
  migrations: [GATEWAY_MIGRATIONS],
  async create(parts, { gateway: config }) {
    const app = await createGatewayApp({ ...parts, config });
    return { app, close: () => app.close() };
  },
});
