import { EGRESS_SETTINGS } from '@countersign/egress';
import { defineService, INBOX_SETTINGS } from '@countersign/service-host';
import { createWebhooksApp } from './app.js';
import { WEBHOOK_SETTINGS } from './config.js';
import { WEBHOOKS_MIGRATIONS } from './migrations.js';

export const WEBHOOKS = defineService({
  name: 'webhooks',
  settings: { egress: EGRESS_SETTINGS, webhooks: WEBHOOK_SETTINGS, inbox: INBOX_SETTINGS },
  migrations: [WEBHOOKS_MIGRATIONS],
  create: (parts, { egress: { allowNetworks }, webhooks, inbox }) =>
    createWebhooksApp({ ...parts, config: { ...webhooks, ...inbox, allowNetworks } }),
});
