import { defineService } from '@countersign/service-host';
import { DIRECTORY_SETTINGS } from './config.js';
import { createDirectoryApp } from './directory.module.js';

export const DIRECTORY = defineService({
  name: 'directory',
  settings: { directory: DIRECTORY_SETTINGS },
  async create(parts, { directory: config }) {
    const app = await createDirectoryApp({ ...parts, config });
    return { app, close: () => app.close() };
  },
});
