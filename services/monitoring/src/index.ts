export { fireTimer } from './fire-timer.js';
export { createMonitoringApp, type MonitoringDeps } from './monitoring.module.js';
export { MONITORING } from './service.js';
