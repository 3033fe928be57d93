export { GATEWAY_SETTINGS, type GatewayConfig } from './config.js';
export { createGatewayApp, type GatewayParts, SERVICES } from './gateway-app.js';
export { GATEWAY_MIGRATIONS } from './migrations.js';
export { GATEWAY } from './service.js';
