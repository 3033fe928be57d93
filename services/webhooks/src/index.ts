export { createWebhooksApp, type WebhooksApp } from './app.js';
export { WEBHOOK_SETTINGS, type WebhookConfig } from './config.js';
export type { WebhooksDeps } from './deps.js';
export { WEBHOOKS_MIGRATIONS } from './migrations.js';
