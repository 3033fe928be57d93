import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@countersign/database';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Credentials } from './credentials.js';
import { addressOf, type SpawnedProgram, scratchFolder, spawnProgram, spawnServer } from './fixture/server-process.js';

const scratch = scratchFolder();
const dataDir = join(scratch.path, 'data');
const started: SpawnedProgram[] = [];
let database: EmbeddedPostgres;

beforeAll(async () => {
  database = await startEmbeddedPostgres({ dataDir: join(scratch.path, 'external') });
});
afterAll(async () => {
  for (const server of started) await server.stop('SIGKILL');
  await database.stop();
  scratch.remove();
});

function start(env: Record<string, string> = {}): SpawnedProgram {
  const server = spawnServer(dataDir, { DATABASE_URL: database.url, ...env });
  started.push(server);
  return server;
}

const credentials = () => JSON.parse(readFileSync(join(dataDir, 'credentials.json'), 'utf8')) as Credentials;

async function keyWorks(url: string): Promise<void> {
  const response = await fetch(`${url}/api/v1/auth/key-info`, { headers: { authorization: `Bearer ${credentials().api_key}` } });
  expect(response.status).toBe(200);
}

describe('with DATABASE_URL', () => {
  it('no PostgreSQL is started, commands work on that one, and the folder that was lost is the only thing that is lost', async () => {
    const first = start();
    await keyWorks(await addressOf(first));
    expect(existsSync(join(dataDir, 'postgres'))).toBe(false);
    const { project_id } = credentials();
    const { secrets_key } = JSON.parse(readFileSync(join(dataDir, 'secrets.json'), 'utf8')) as { secrets_key: string };
    const env = { DATA_DIR: join(scratch.path, 'elsewhere'), DATABASE_URL: database.url };
    const verified = await spawnProgram('node', ['services/platform/bin/countersign.js', 'verify', '--json'], { env }).exited;
    expect(JSON.parse(verified.stdout)).toMatchObject({ valid: true });
    expect((await first.stop()).code).toBe(0);

    rmSync(dataDir, { recursive: true });
    const { code, stderr } = await start().exited;
    expect(stderr).toMatch(/^The secrets in the database were sealed with another key: set SECRETS_KEY/m);
    expect(code).toBe(1);

    const adopting = start({ SECRETS_KEY: secrets_key });
    await keyWorks(await addressOf(adopting));
    expect(credentials().project_id).toBe(project_id);
    const { reviewer } = credentials();
    const login = await fetch(`${credentials().url}/api/v1/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(reviewer),
    });
    expect(login.status).toBe(200);
    expect((await adopting.stop()).code).toBe(0);
  });
});
