export { createMonitoringApp, type MonitoringDeps } from './monitoring.module.js';
