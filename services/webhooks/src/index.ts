export { createWebhooksApp, type WebhooksApp } from './app.js';
export { WEBHOOK_SETTINGS, type WebhookConfig } from './config.js';
export { SUBSCRIPTION as WEBHOOKS_SUBSCRIPTION } from './consumers.js';
export type { WebhooksDeps } from './deps.js';
export { WEBHOOKS_MIGRATIONS } from './migrations.js';
export { WEBHOOKS } from './service.js';
