import { defineService } from '@countersign/service-host';
import { DIRECTORY_SETTINGS } from './config.js';
import { createDirectoryApp } from './directory.module.js';
import { DIRECTORY_MIGRATIONS } from './migrations.js';

export const DIRECTORY = defineService({
  name: 'directory',
  settings: { directory: DIRECTORY_SETTINGS },
  migrations: [DIRECTORY_MIGRATIONS],
  async create(parts, { directory: config }) {
    const app = await createDirectoryApp({ ...parts, config });
    return { app, close: () => app.close() };
  },
});
