import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CATEGORY_PREFIXES } from '@countersign/contracts';
import { newId, PostgresEventStore } from '@countersign/event-store';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import type { Credentials } from '../credentials.js';
import type { LockHolder } from '../data/lock.js';
import { call } from '../fixture/api.js';
import {
  addressOf,
  prepareData,
  runCli,
  type SpawnedProgram,
  scratchFolder,
  spawnServer,
  stopLeftovers,
  until,
} from '../fixture/server-process.js';

const scratch = scratchFolder();
const dataDir = join(scratch.path, 'data');
let server: SpawnedProgram;
let url: string;

beforeAll(async () => {
  await prepareData(dataDir);
  server = spawnServer(dataDir);
  url = await addressOf(server);
});
afterAll(async () => {
  await stopLeftovers(dataDir, [server]);
  scratch.remove();
});

async function restart(): Promise<void> {
  server = spawnServer(dataDir);
  url = await addressOf(server);
}

interface User {
  sign_in_url: string;
}
interface Parked {
  parked: { stream: string }[];
}
interface ExportedEvent {
  position: number;
  project: string;
  body: string;
  body_salt: string;
  body_commitment: string;
}

/** The answer of a command that is expected to succeed. */
async function answer<T = Record<string, unknown>>(...args: string[]): Promise<T> {
  const { code, stdout, stderr } = await runCli(dataDir, ...args, '--json');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout);
}

const tokenOf = (link: string): string => link.split('#link=')[1] ?? '';
const credentials = () => JSON.parse(readFileSync(join(dataDir, 'credentials.json'), 'utf8')) as Credentials;

async function asOwner<T>(use: (client: pg.Client) => Promise<T>): Promise<T> {
  const { database_url } = JSON.parse(readFileSync(join(dataDir, 'lock.json'), 'utf8')) as LockHolder;
  const client = new pg.Client({ connectionString: database_url });
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}

describe('beside a running server', () => {
  it('a project, a person and a key are made, and the server knows them at once', async () => {
    const project = await answer<{ id: string }>('projects', 'create', 'Acme Mail');
    expect(project).toMatchObject({ slug: 'acme-mail', webhook_secret: expect.stringMatching(/^[0-9a-f]{64}$/) });
    const key = await answer<{ id: string; raw_key: string }>('keys', 'create', '--project', 'acme-mail', '--name', 'bot');
    expect(await call(url, 'getKeyInfo', { bearer: key.raw_key })).toMatchObject({
      status: 200,
      body: { project_id: project.id, name: 'bot' },
    });
    const rotated = await answer<{ id: string; raw_key: string }>('keys', 'rotate', key.id);
    const asked = async (bearer: string) => (await call(url, 'getKeyInfo', { bearer })).status;
    expect([await asked(key.raw_key), await asked(rotated.raw_key)]).toEqual([401, 200]);
    const listed = async () => (await answer<{ keys: { id: string }[] }>('keys', 'list', '--project', 'acme-mail')).keys;
    expect(await listed()).toEqual([expect.objectContaining({ id: key.id, name: 'bot', is_active: true, expires_at: null })]);
    expect(await answer('keys', 'revoke', key.id)).toMatchObject({ id: key.id, revoked: true });
    expect([await asked(rotated.raw_key), await listed()]).toEqual([401, []]);
    const { projects } = await answer<{ projects: { id: string; slug: string }[] }>('projects', 'list');
    expect(projects.map(({ slug }) => slug)).toEqual(['demo', 'acme-mail']);

    const user = await answer<User>(
      'users',
      'create',
      '--project',
      project.id,
      '--email',
      'ann@example.org',
      '--name',
      'Ann',
      '--role',
      'admin',
    );
    expect(user).toMatchObject({ created: true, role: 'admin' });
    const session = await call(url, 'exchangeSignInLink', { body: { token: tokenOf(user.sign_in_url) } });
    expect(session).toMatchObject({ status: 200, body: { reviewer: { email: 'ann@example.org', role: 'admin' } } });
  });

  it('the last admin is let back in without their password, as what they were', async () => {
    const { reviewer } = credentials();
    const user = await answer<User>('users', 'create', '--project', 'demo', '--email', reviewer?.email ?? '');
    expect(user).toMatchObject({ created: false, role: 'admin' });
    const { body } = await call(url, 'exchangeSignInLink', { body: { token: tokenOf(user.sign_in_url) } });
    const changed = await call(url, 'changePassword', { bearer: body.token, body: { new_password: 'a new and long enough one' } });
    expect(changed.status).toBe(200);
    const again = await call(url, 'login', { body: { email: reviewer?.email ?? '', password: 'a new and long enough one' } });
    expect(again.status).toBe(200);
  });

  it('a stranger on this machine who fails and fails stops no link, and `users unlock` opens the password again', async () => {
    const made = await answer<User>('users', 'create', '--project', 'demo', '--email', 'eve@example.org', '--name', 'Eve');
    const { body } = await call(url, 'exchangeSignInLink', { body: { token: tokenOf(made.sign_in_url) } });
    const password = 'the long secret of Eve';
    expect((await call(url, 'changePassword', { bearer: body.token, body: { new_password: password } })).status).toBe(200);
    const login = (text: string) => call(url, 'login', { body: { email: 'eve@example.org', password: text } });
    for (let n = 0; n < 12; n++) await login('not the password at all');
    expect(await login(password)).toMatchObject({ status: 429, body: { error: { code: 'account_locked' } } });
    const link = await answer<User>('users', 'create', '--project', 'demo', '--email', 'ann@example.org');
    expect((await call(url, 'exchangeSignInLink', { body: { token: tokenOf(link.sign_in_url) } })).status).toBe(200);
    expect(await answer('users', 'unlock', '--email', 'eve@example.org')).toMatchObject({ email: 'eve@example.org', closed: 1 });
    expect((await login(password)).status).toBe(200);
  });

  it('a decision in a session that ended a moment ago is refused, and one in another session of the same person is made (K16)', async () => {
    const { api_key, reviewer } = credentials();
    const login = async () => {
      const { sign_in_url } = await answer<User>('users', 'create', '--project', 'demo', '--email', reviewer?.email ?? '');
      return (await call(url, 'exchangeSignInLink', { body: { token: tokenOf(sign_in_url) } })).body.token as string;
    };
    const [ended, open] = [await login(), await login()];
    const asked = await call(url, 'createReview', {
      bearer: api_key,
      body: {
        template: 'production-change',
        payload: { summary: 'Restart', command: 'systemctl restart' },
      },
    });
    expect(asked.status).toBe(201);
    const approve = (session: string) =>
      call(url, 'actOnReview', { bearer: session, path: { id: asked.body.id }, body: { action_id: 'approve' } });
    expect((await call(url, 'getReview', { bearer: ended, path: { id: asked.body.id } })).status).toBe(200);
    expect((await call(url, 'logout', { bearer: ended })).status).toBeLessThan(300);
    expect(await approve(ended)).toMatchObject({ status: 401, body: { error: { code: 'invalid_token' } } });
    expect((await call(url, 'getReview', { bearer: api_key, path: { id: asked.body.id } })).body.status).toBe('pending');
    expect((await approve(open)).status).toBe(200);
  });

  it('read models are rebuilt to what they were', async () => {
    const { api_key } = credentials();
    const asked = await call(url, 'createReview', {
      bearer: api_key,
      body: {
        template: 'refund',
        payload: { customer: 'Maya', amount: 12, currency: 'EUR', reason: 'late' },
      },
    });
    expect(asked.status).toBe(201);
    const lists = async () => [
      (await call(url, 'listReviews', { bearer: api_key })).body,
      (await call(url, 'listTemplates', { bearer: api_key })).body,
    ];
    const before = await lists();
    expect(before[0]?.items).toHaveLength(2);
    const { rebuilt } = await answer<{ rebuilt: { projection: string }[] }>('rebuild', 'all');
    expect(rebuilt.map(({ projection }) => projection)).toEqual(['audit', 'intake', 'decisions', 'directory']);
    expect(await lists()).toEqual(before);
  });

  it('an event no consumer knows parks its stream, which status and the list tell, and unpark tries again', async () => {
    const stream = newId('rev');
    await asOwner(async (client) => {
      const pool = new pg.Pool({
        connectionString: `postgresql://${client.user}:${client.password}@${client.host}:${client.port}/${client.database}`,
        max: 2,
      });
      const store = new PostgresEventStore({ pool, writer: 'intake', categories: CATEGORY_PREFIXES });
      await store.append({
        streams: [
          { stream, project: credentials().project_id, expectedVersion: 0, events: [{ type: 'review.from_the_future', body: {} }] },
        ],
        meta: {},
      });
      await store.close();
      await pool.end();
    });
    const parked = await until('the stream to be parked', async () => {
      const { parked: keys } = await answer<Parked>('parked', 'list', '--group', 'audit');
      return keys.find((key) => key.stream === stream);
    });
    expect(parked).toMatchObject({ group: 'audit', waiting: 1, reason: expect.stringContaining('review.from_the_future') });
    expect((await runCli(dataDir, 'status')).code).toBe(1);
    const again = await runCli(dataDir, 'parked', 'unpark', 'audit', stream);
    expect(again).toMatchObject({ code: 1, stdout: expect.stringContaining('is parked again') });
  });
});

describe('on the data of a stopped server', () => {
  beforeAll(async () => {
    await server.stop();
  });
  afterAll(async () => {
    expect(readdirSync(dataDir)).not.toContain('lock.json');
    expect(existsSync(join(dataDir, 'postgres/cluster/postmaster.pid'))).toBe(false);
  });

  it('the log verifies, and is exported with the bytes its commitments were taken over', async () => {
    const report = await answer<{ events: number }>('verify');
    expect(report).toMatchObject({ valid: true, verified_from: 1, first_bad: null });
    const file = join(scratch.path, 'events.jsonl');
    expect(await answer('export', '--output', file)).toMatchObject({ events: report.events });
    const lines = readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as ExportedEvent);
    expect(lines.map(({ position }) => position)).toEqual(Array.from({ length: report.events }, (_, i) => i + 1));
    for (const { body, body_salt, body_commitment } of lines) {
      const commitment = createHash('sha256').update(Buffer.from(body_salt, 'hex')).update(body).digest('hex');
      expect(commitment).toBe(body_commitment);
    }
    expect(await runCli(dataDir, 'export', '--output', file)).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('already exists'),
    });
    const project = await answer('export', '--project', 'demo', '--output', join(scratch.path, 'demo.jsonl'));
    expect(project.events).toBe(lines.filter(({ project: id }) => id === credentials().project_id).length);
    const piped = await runCli(dataDir, 'export', '--from', '2', '--to', '3');
    expect(
      piped.stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).position),
    ).toEqual([2, 3]);
  });

  it('an unparked stream waits for the server, and a new person is there when it runs', async () => {
    const { parked } = await answer<Parked>('parked', 'list', '--group', 'intake');
    const stream = parked[0]?.stream ?? '';
    expect((await runCli(dataDir, 'parked', 'unpark', 'intake', stream)).stdout).toContain(
      'will be processed by intake when the server starts',
    );
    const user = await answer<User>('users', 'create', '--project', 'demo', '--email', 'bob@example.org', '--name', 'Bob');
    expect(user.sign_in_url).toContain(`${credentials().url}/`);
    const again = await runCli(dataDir, 'users', 'create', '--project', 'demo', '--email', 'bob@example.org', '--name', 'Robert');
    expect(again.stdout).toContain('Their name stays Bob');
    await restart();
    expect((await call(url, 'exchangeSignInLink', { body: { token: tokenOf(user.sign_in_url) } })).body.reviewer).toMatchObject({
      name: 'Bob',
    });
    await server.stop();
  });
});

describe('verify', () => {
  it('names the first event that was changed behind the store’s back, with exit code 1', async () => {
    await restart();
    await asOwner(async (client) => {
      await client.query('alter table event_store.events disable trigger user');
      await client.query(`update event_store.events set body = replace(body, 'Demo', 'Dema') where position = 1`);
    });
    const { code, stdout } = await runCli(dataDir, 'verify', '--json');
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ valid: false, first_bad: { position: 1, stream: expect.stringMatching(/^prj_/) } });
  });

  it('is what a rebuild points to that cannot read the log', async () => {
    await asOwner(async (client) => {
      await client.query('alter table event_store.events disable trigger user');
      await client.query(`update event_store.events set body = '{}' where type in ('review.requested', 'template.published')`);
    });
    const { code, stderr } = await runCli(dataDir, 'rebuild', 'audit');
    expect(code).toBe(3);
    expect(stderr).toMatch(/^audit cannot be rebuilt: the log has an event that cannot be read\. Run countersign verify/m);
    expect(stderr).not.toContain('Internal error');
  });
});
