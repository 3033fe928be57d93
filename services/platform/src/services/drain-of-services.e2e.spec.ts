/** Told to end under load, a service's process ends by itself: code 0. One that has not ended within 10 s gives up, with code 1. */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ServiceName } from '@countersign/contracts';
import { type EmbeddedPostgres, freePorts, startEmbeddedPostgres } from '@countersign/database';
import { Teardown } from '@countersign/service-host';
import { createLogger } from '@countersign/telemetry';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { call } from '../fixture/api.js';
import { SpawnedProgram, scratchFolder, until } from '../fixture/server-process.js';
import { migrateAll } from '../schema.js';

const SERVICES: readonly ServiceName[] = ['gateway', 'intake', 'decisions', 'directory', 'monitoring', 'webhooks', 'audit'];
const CONNECTIONS = 16;
const FOLDER = fileURLToPath(new URL('../../../', import.meta.url));
const FIELDS = [{ name: 'text', type: 'text' as const, label: 'Text' }];

describe('the process of a service under load', () => {
  const scratch = scratchFolder();
  const teardown = new Teardown();
  const settings: Record<string, string> = { IDENTITY_KEY: randomBytes(32).toString('hex'), SECRETS_KEY: randomBytes(32).toString('hex') };
  let database: EmbeddedPostgres;
  let ports: Map<ServiceName, number>;
  let url: string;
  let bearer: string;
  beforeAll(async () => {
    teardown.add(() => scratch.remove());
    database = await startEmbeddedPostgres({ dataDir: join(scratch.path, 'postgres') });
    teardown.add(() => database.stop());
    await migrateAll(database.url, createLogger({ service: 'spec', level: 'silent' }));
    settings.DATABASE_URL = database.url;
    const free = await freePorts(SERVICES.length);
    ports = new Map(SERVICES.map((service, index) => [service, free[index] as number]));
    for (const [service, port] of ports) settings[`${service.toUpperCase()}_URL`] = `http://127.0.0.1:${port}`;
    url = settings.GATEWAY_URL as string;
    await operate('projects', 'create', 'Drained');
    bearer = (await operate<{ raw_key: string }>('keys', 'create', '--project', 'drained', '--name', 'agent', '--preset', 'admin')).raw_key;
  });
  afterAll(() => teardown.run());

  function run(program: string, env: Record<string, string>, ...args: string[]): SpawnedProgram {
    const child = spawn(process.execPath, [join(FOLDER, program), ...args], {
      env: { PATH: process.env.PATH, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const spawned = new SpawnedProgram(child);
    teardown.add(() => spawned.stop('SIGKILL'));
    return spawned;
  }
  async function operate<T>(...command: string[]): Promise<T> {
    const { DATABASE_URL = '', SECRETS_KEY = '' } = settings;
    const env = { DATABASE_URL, SECRETS_KEY, DATA_DIR: join(scratch.path, 'data') };
    const { code, stdout, stderr } = await run('platform/bin/countersign.js', env, ...command, '--json').exited;
    if (code !== 0) throw new Error(`countersign ${command.join(' ')} ended with ${code}: ${stderr}`);
    return JSON.parse(stdout) as T;
  }
  const start = (service: ServiceName) =>
    run(`${service}/dist/main.js`, { ...settings, PORT: String(ports.get(service)), LOG_LEVEL: 'warn' });
  const ask = async (template: string): Promise<number | null> => {
    const body = { template, payload: { text: 'a' } };
    return call(url, 'createReview', { bearer, body }).then(
      ({ status }) => status,
      () => null,
    );
  };

  it.each(['intake', 'directory', 'gateway'] as const)('ends by itself: %s', async (service) => {
    const programs = new Map((['intake', 'directory', 'gateway'] as const).map((name) => [name, start(name)]));
    const slug = `drained-${service}`;
    await until('a template to be there', async () => {
      const answer = await call(url, 'createTemplate', { bearer, body: { slug, name: 'Drained', fields: FIELDS } }).catch(() => null);
      return answer?.status === 201;
    });
    let going = true;
    let asked = 0;
    const load = Array.from({ length: CONNECTIONS }, async () => {
      while (going) if ((await ask(slug)) === 201) asked += 1;
    });
    await until('every connection to be busy', () => asked >= 4 * CONNECTIONS);
    const ended = await programs.get(service)?.stop('SIGTERM');
    going = false;
    await Promise.all(load);
    expect(ended).toMatchObject({ code: 0, signal: null });
    for (const program of programs.values()) await program.stop('SIGKILL');
  });
});
