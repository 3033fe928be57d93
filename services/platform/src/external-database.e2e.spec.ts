import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@countersign/database';
import { afterAll, afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Credentials } from './credentials.js';
import { addressOf, type SpawnedProgram, scratchFolder, spawnProgram, spawnServer, until } from './fixture/server-process.js';

const scratch = scratchFolder();
const dataDir = join(scratch.path, 'data');
const started: SpawnedProgram[] = [];
let database: EmbeddedPostgres;

beforeEach(async () => {
  database = await startEmbeddedPostgres({ dataDir: mkdtempSync(join(scratch.path, 'external-')) });
});
afterEach(async () => {
  for (const server of started.splice(0)) await server.stop('SIGKILL');
  await database.stop();
});
afterAll(() => scratch.remove());

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
    const first = start({ LOG_LEVEL: 'info', DATABASE_URL: `${database.url}?application_name=hunter2` });
    await keyWorks(await addressOf(first));
    expect(existsSync(join(dataDir, 'postgres'))).toBe(false);
    const { project_id } = credentials();
    const { secrets_key } = JSON.parse(readFileSync(join(dataDir, 'secrets.json'), 'utf8')) as { secrets_key: string };
    const logged = first.stderr.split('\n').filter((line) => line.includes('"configuration"'));
    expect(logged).toHaveLength(1);
    const { config } = JSON.parse(logged[0] as string) as { config: Record<string, string> };
    const { host, password } = new URL(database.url);
    expect(config).toMatchObject({
      LOG_LEVEL: 'info',
      HOST: '127.0.0.1 (default)',
      SECRETS_KEY: '(set)',
      SECRETS_KEY_PREVIOUS: '(not set)',
      DATABASE_URL: expect.stringContaining(host),
    });
    const made = credentials();
    const secrets = [password, secrets_key, 'hunter2', made.api_key, made.webhook_secret, made.reviewer?.password].filter(
      (secret) => secret !== undefined,
    );
    expect(secrets).toHaveLength(6);
    for (const secret of secrets) expect(first.stderr).not.toContain(secret);
    const env = { DATA_DIR: join(scratch.path, 'elsewhere'), DATABASE_URL: database.url };
    const verified = await spawnProgram('node', ['services/platform/bin/countersign.js', 'verify', '--json'], { env }).exited;
    expect(JSON.parse(verified.stdout)).toMatchObject({ valid: true });
    expect((await first.stop()).code).toBe(0);

    rmSync(dataDir, { recursive: true });
    const { code, stderr } = await start().exited;
    expect(stderr).toMatch(/^The secrets in the database were encrypted with another key\. Set SECRETS_KEY/m);
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

  it('a database that goes away is told as such, and work goes on by itself when it is back', async () => {
    const wire = await proxyTo(database.url);
    const folder = join(scratch.path, 'behind-a-proxy');
    const { url: through } = wire;
    const server = spawnServer(folder, { DATABASE_URL: through });
    started.push(server);
    const { code, stderr } = await Promise.race([server.exited, addressOf(server).then(() => ({ code: null, stderr: '' }))]);
    expect({ code, stderr }).toEqual({ code: null, stderr: '' });
    const url = await addressOf(server);
    const { api_key } = JSON.parse(readFileSync(join(folder, 'credentials.json'), 'utf8')) as Credentials;
    const ask = () =>
      fetch(`${url}/api/v1/reviews`, {
        method: 'POST',
        headers: { authorization: `Bearer ${api_key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ template: 'refund', payload: { customer: 'Maya', amount: 1, currency: 'EUR', reason: 'late' } }),
      });
    expect((await ask()).status).toBe(201);

    wire.cut();
    const away = await ask();
    expect(away.status).toBe(503);
    expect(away.headers.get('retry-after')).not.toBeNull();
    expect((await fetch(`${url}/health/ready`)).status).toBe(503);

    await wire.restore();
    await until('the server to be ready again', async () => (await fetch(`${url}/health/ready`)).status === 200);
    const review = (await (await ask()).json()) as { id: string };
    const listed = await until('consumers to go on', async () => {
      const answer = await fetch(`${url}/api/v1/reviews`, { headers: { authorization: `Bearer ${api_key}` } });
      const { items = [] } = (await answer.json()) as { items?: { id: string }[] };
      return items.some(({ id }) => id === review.id);
    });
    expect(listed).toBe(true);
    expect((await server.stop()).code).toBe(0);
    wire.cut();
  });
});

/** A way to a database that can be cut and restored. */
async function proxyTo(target: string): Promise<{ url: string; cut(): void; restore(): Promise<void> }> {
  const { port } = new URL(target);
  const sockets = new Set<Socket>();
  const listen = async (at: number): Promise<Server> => {
    const listening = createServer((client) => {
      const upstream = connect(Number(port), '127.0.0.1');
      for (const socket of [client, upstream]) {
        sockets.add(socket);
        socket
          .on('error', () => {})
          .on('close', () => {
            sockets.delete(socket);
            client.destroy();
            upstream.destroy();
          });
      }
      client.pipe(upstream).pipe(client);
    }).listen(at, '127.0.0.1');
    await once(listening, 'listening');
    return listening;
  };
  let server = await listen(0);
  const own = (server.address() as AddressInfo).port;
  const url = new URL(target);
  url.port = String(own);
  return {
    url: url.href,
    cut: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
    restore: async () => {
      server = await listen(own);
    },
  };
}
