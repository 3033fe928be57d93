export { createMonitoringApp, type MonitoringDeps } from './monitoring.module.js';
export { MONITORING } from './service.js';
