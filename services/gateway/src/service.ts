import { defineService } from '@countersign/service-host';
import { GATEWAY_SETTINGS } from './config.js';
import { createGatewayApp } from './gateway-app.js';

export const GATEWAY = defineService({
  name: 'gateway',
  settings: { gateway: GATEWAY_SETTINGS },
  async create(parts, { gateway: config }) {
    const app = await createGatewayApp({ ...parts, config });
    return { app, close: () => app.close() };
  },
});
