export { DatabaseClock } from './database-clock.js';
export { defineService, type HostedService, type ServiceDefinition, type ServiceParts } from './definition.js';
export { MISCONFIGURED, runService } from './run-service.js';
export { ADDRESS_SETTINGS, DATABASE_SETTINGS, HOST_SETTINGS, INBOX_SETTINGS, KAFKA_SETTINGS, listenerSettings } from './settings.js';
export { Teardown } from './teardown.js';
export { VERSION } from './version.js';
