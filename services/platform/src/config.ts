import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ConfigOf, declareSettings, loadConfig } from '@countersign/config';

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const;

export const DATA_SETTINGS = declareSettings('Data', {
  dataDir: {
    env: 'DATA_DIR',
    type: 'string',
    default: './.countersign',
    meaning: 'Folder of everything the all-in-one keeps: its keys, the embedded PostgreSQL, credentials.json.',
  },
  databaseUrl: {
    env: 'DATABASE_URL',
    type: 'url',
    schemes: ['postgres', 'postgresql'],
    optional: true,
    meaning: 'PostgreSQL 15 or newer, as the owner of its database; the embedded one is used when not set.',
  },
});

export const SERVER_SETTINGS = declareSettings('Server', {
  host: { env: 'HOST', type: 'string', default: '127.0.0.1', meaning: 'Address to listen on.' },
  port: { env: 'PORT', type: 'int', default: 3100, min: 0, max: 65535, meaning: 'Port to listen on; 0 takes a free one.' },
  logLevel: {
    env: 'LOG_LEVEL',
    type: 'enum',
    values: LOG_LEVELS,
    default: 'warn',
    meaning: 'Least level of the JSON lines on standard error.',
  },
});

export type DataConfig = ConfigOf<typeof DATA_SETTINGS.settings>;
export type ServerConfig = ConfigOf<typeof SERVER_SETTINGS.settings>;
export type Environment = Readonly<Record<string, string | undefined>>;

/** The folder of the program, where the default data directory stands whatever folder a command is called from. */
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

export const environment = (): Environment => process.env;

/** @throws {ConfigError} naming every setting that is wrong. */
export function dataConfig(environment: Environment): DataConfig {
  const { data } = loadConfig({ data: DATA_SETTINGS }, environment);
  return { ...data, dataDir: environment.DATA_DIR?.trim() ? resolve(data.dataDir) : resolve(ROOT, data.dataDir) };
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host);
}
