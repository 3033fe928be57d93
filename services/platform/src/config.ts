import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ConfigOfGroups, declareSettings, type Environment, loadConfig, redactedConfig } from '@countersign/config';
import { DIRECTORY_SETTINGS } from '@countersign/directory/config';
import { EGRESS_SETTINGS } from '@countersign/egress/settings';
import { GATEWAY_SETTINGS } from '@countersign/gateway/config';
import { INBOX_SETTINGS, listenerSettings } from '@countersign/service-host/settings';
import { TELEMETRY_SETTINGS } from '@countersign/telemetry';
import { WEBHOOK_SETTINGS } from '@countersign/webhooks/config';

const DATA_SETTINGS = declareSettings('Data', {
  dataDir: {
    env: 'DATA_DIR',
    type: 'string',
    default: './.countersign',
    meaning: 'Data directory: keys, embedded PostgreSQL, credentials.json.',
  },
  databaseUrl: {
    env: 'DATABASE_URL',
    type: 'url',
    schemes: ['postgres', 'postgresql'],
    optional: true,
    meaning: 'URL of PostgreSQL 15 or newer; the login must own the database. If not set, the embedded PostgreSQL is used.',
  },
});

const SERVER_SETTINGS = declareSettings('Server', listenerSettings('warn'));

/** Every setting of the all-in-one, group by group; the configuration's table in the README is made of it. */
export const PLATFORM_GROUPS = {
  server: SERVER_SETTINGS,
  data: DATA_SETTINGS,
  gateway: GATEWAY_SETTINGS,
  directory: DIRECTORY_SETTINGS,
  inbox: INBOX_SETTINGS,
  egress: EGRESS_SETTINGS,
  webhooks: WEBHOOK_SETTINGS,
  telemetry: TELEMETRY_SETTINGS,
};

export type PlatformConfig = ConfigOfGroups<typeof PLATFORM_GROUPS>;
/** What one machine sets for itself where the environment does not say otherwise. */
export interface OwnSettings {
  secretsKey: string;
  publicUrl: string;
  /** Webhooks may go to this machine itself: where nobody else reaches the server, agents are here too. */
  loopback: boolean;
}

/** Stands in for what only a prepared data directory knows, so that every other mistake is found before it is touched. */
const UNPREPARED: OwnSettings = { secretsKey: '0'.repeat(64), publicUrl: 'http://127.0.0.1', loopback: true };

/** @throws {ConfigError} naming every setting of every part that is wrong. */
export function platformConfig(environment: Environment, own: OwnSettings = UNPREPARED): PlatformConfig {
  return loadConfig(PLATFORM_GROUPS, withOwn(environment, own));
}

/** The same for the log: what is set and what is a default, without a secret. */
export function shownConfig(environment: Environment, own: OwnSettings): Record<string, string> {
  return redactedConfig(PLATFORM_GROUPS, withOwn(environment, own));
}

function withOwn(environment: Environment, own: OwnSettings): Environment {
  return {
    SECRETS_KEY: own.secretsKey,
    PUBLIC_URL: own.publicUrl,
    ...(own.loopback ? { WEBHOOK_ALLOW_NETWORKS: '127.0.0.0/8,::1/128' } : {}),
    ...Object.fromEntries(Object.entries(environment).filter(([, value]) => value?.trim())),
  };
}

/** The folder of the program, where the default data directory stands whatever folder a command is called from. */
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** Where the data is, for commands that need no more. @throws {ConfigError} */
export function dataConfig(environment: Environment): PlatformConfig['data'] {
  const { data } = loadConfig({ data: DATA_SETTINGS }, environment);
  return { ...data, dataDir: environment.DATA_DIR?.trim() ? resolve(data.dataDir) : resolve(ROOT, data.dataDir) };
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host);
}
