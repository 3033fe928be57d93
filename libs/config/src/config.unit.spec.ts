import { describe, expect, it } from '@jest/globals';
import { ConfigError, type ConfigOf, declareSettings, describeConfig, loadConfig, redactedConfig } from './index.js';

const WEB = declareSettings(
  'Web',
  {
    host: { env: 'HOST', type: 'string', default: '127.0.0.1', meaning: 'Address to listen on.' },
    port: { env: 'PORT', type: 'int', default: 3100, min: 0, max: 65535, meaning: 'Port to listen on.' },
    mode: { env: 'MODE', type: 'enum', values: ['dark', 'light'], default: 'dark', meaning: 'Mode.' },
    origin: { env: 'ORIGIN', type: 'url', optional: true, meaning: 'Allowed origin.' },
    lease: { env: 'LEASE', type: 'duration', default: '30s', min: '1s', meaning: 'Lease.' },
    timeout: { env: 'TIMEOUT', type: 'duration', default: '10s', meaning: 'Timeout.' },
    limit: { env: 'LIMIT', type: 'bytes', default: '1mb', max: '16mb', meaning: 'Largest body.' },
    trust: { env: 'TRUST', type: 'boolean', default: false, meaning: 'Trust | the proxy.' },
    backoff: { env: 'BACKOFF', type: 'list', of: 'duration', default: ['5s', '30s'], min: 1, meaning: 'Waits.' },
    names: { env: 'NAMES', type: 'list', default: [], meaning: 'Names.' },
  },
  [(c) => (c.lease > c.timeout ? undefined : 'LEASE must be longer than TIMEOUT; raise one or lower the other.')],
);
const STORE = declareSettings('Store', {
  key: { env: 'SEAL_KEY', type: 'string', secret: true, min: 8, meaning: 'Seals secrets.' },
  url: { env: 'DATABASE_URL', type: 'url', schemes: ['postgres'], optional: true, meaning: 'Database.' },
});

// The inferred types are part of the contract: this compiles or the declaration lost its types.
const typed = (config: ConfigOf<typeof WEB.settings>): [string, number, 'dark' | 'light', string | undefined, readonly number[]] => [
  config.host,
  config.port,
  config.mode,
  config.origin,
  config.backoff,
];

describe('loadConfig', () => {
  it('takes defaults, parses every type and freezes the result', () => {
    const { web, store } = loadConfig(
      { web: WEB, store: STORE },
      { SEAL_KEY: 'long enough', PORT: '', LIMIT: '64kb', BACKOFF: '1s, 2m', TRUST: 'yes' },
    );
    expect(typed(web)).toEqual(['127.0.0.1', 3100, 'dark', undefined, [1_000, 120_000]]);
    expect(web).toMatchObject({ lease: 30_000, limit: 65_536, trust: true, names: [] });
    expect(store.url).toBeUndefined();
    expect(Object.isFrozen(web)).toBe(true);
    expect(Object.isFrozen(web.backoff)).toBe(true);
  });

  it('lists all mistakes of all groups at once and repeats no secret', () => {
    const env = {
      PORT: '70000',
      MODE: 'pink',
      LEASE: '5 parsecs',
      ORIGIN: 'ftp://x',
      TRUST: 'maybe',
      BACKOFF: '5s,soon',
      LIMIT: '17mb',
      SEAL_KEY: 'short',
    };
    const error = caught(() => loadConfig({ web: WEB, store: STORE }, env));
    expect(error.mistakes).toHaveLength(8);
    expect(error.message).toContain('PORT must be at most 65535, not "70000".');
    expect(error.message).toContain('MODE must be one of dark, light');
    expect(error.message).toContain('SEAL_KEY must be at least 8 characters long.');
    expect(error.message).not.toContain('short"');
  });

  it('names what a missing setting is for', () => {
    expect(caught(() => loadConfig({ store: STORE }, {})).mistakes).toEqual(['SEAL_KEY is not set: Seals secrets.']);
  });

  it('judges rules between settings, once the values parse', () => {
    const groups = { web: WEB };
    expect(caught(() => loadConfig(groups, { LEASE: '5s' })).mistakes).toEqual([expect.stringContaining('LEASE must be longer')]);
    expect(caught(() => loadConfig(groups, { LEASE: 'x' })).mistakes).toEqual([expect.stringContaining('LEASE must be a duration')]);
  });

  it.each(['1.5', '0x10', '1e3', '9007199254740993', ' '])('takes no doubtful whole number: %j', (PORT) => {
    const load = () => loadConfig({ web: WEB }, { PORT }).web.port;
    if (PORT.trim() === '') expect(load()).toBe(3100);
    else expect(load).toThrow(ConfigError);
  });
});

describe('redactedConfig', () => {
  it('shows what was set and what is a default, and hides secrets and passwords in URLs', () => {
    const shown = redactedConfig({ web: WEB, store: STORE }, { SEAL_KEY: 'long enough', DATABASE_URL: 'postgres://u:pw@h/db', PORT: '80' });
    expect(shown).toMatchObject({
      HOST: '127.0.0.1 (default)',
      PORT: '80',
      SEAL_KEY: '(set)',
      DATABASE_URL: 'postgres://h/db',
      ORIGIN: '(not set)',
    });
    expect(JSON.stringify(shown)).not.toMatch(/pw|long enough/);
    const inQuery = redactedConfig({ store: STORE }, { DATABASE_URL: 'postgres://h/db?user=u&password=pw' });
    expect(inQuery.DATABASE_URL).toBe('postgres://h/db');
    expect(redactedConfig({ store: STORE }, { DATABASE_URL: 'postgres:// u:pw@' }).DATABASE_URL).toBe('(set)');
  });
});

describe('describeConfig', () => {
  it('makes a Markdown table a group', () => {
    const table = describeConfig({ web: WEB, store: STORE });
    expect(table).toContain(
      '### Web\n\n| Variable | Value | Default | Meaning |\n|---|---|---|---|\n| `HOST` | string | `127.0.0.1` | Address to listen on. |',
    );
    expect(table).toContain('| `PORT` | int, 0…65535 | `3100` | Port to listen on. |');
    expect(table).toContain('| `TRUST` | boolean | `false` | Trust \\| the proxy. |');
    expect(table).toContain('| `SEAL_KEY` | string, 8… | required | Seals secrets. Secret. |');
  });
});

function caught(act: () => unknown): ConfigError {
  try {
    act();
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error('No ConfigError was thrown.');
}
