import { defineService, INBOX_SETTINGS } from '@countersign/service-host';
import { DIRECTORY_SETTINGS } from './config.js';
import { createDirectoryApp } from './directory.module.js';
import { DIRECTORY_MIGRATIONS } from './migrations.js';

export const DIRECTORY = defineService({
  name: 'directory',
  settings: { directory: DIRECTORY_SETTINGS, inbox: INBOX_SETTINGS },
  migrations: [DIRECTORY_MIGRATIONS],
  async create(parts, { directory, inbox }) {
    const app = await createDirectoryApp({ ...parts, config: { ...directory, ...inbox } });
    return { app, close: () => app.close() };
  },
});
