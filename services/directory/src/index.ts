export * from './administration.js';
export { DIRECTORY_SETTINGS, type DirectoryConfig } from './config.js';
export type { DirectoryAppDeps } from './deps.js';
export { createDirectoryApp } from './directory.module.js';
export { DIRECTORY_MIGRATIONS } from './migrations.js';
export { DIRECTORY } from './service.js';
