import { readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Credentials } from './credentials.js';
import { DEMO_EMAIL } from './demo/demo-project.js';
import {
  addressOf,
  prepareData,
  runCli,
  type SpawnedProgram,
  scratchFolder,
  spawnProgram,
  spawnServer,
  stopLeftovers,
} from './fixture/server-process.js';

let scratch: ReturnType<typeof scratchFolder>;
let dataDir: string;
let server: SpawnedProgram;
let url: string;
const credentials = () => JSON.parse(readFileSync(join(dataDir, 'credentials.json'), 'utf8')) as Credentials;

beforeEach(() => {
  scratch = scratchFolder();
  dataDir = join(scratch.path, 'data');
});
afterEach(async () => {
  await stopLeftovers(dataDir, [server]);
  scratch.remove();
});

async function call(
  method: string,
  path: string,
  bearer: string | null,
  body?: unknown,
): Promise<{ status: number; body: Record<string, unknown> }> {
  const response = await fetch(`${url}/api/v1${path}`, {
    method,
    headers: { ...(bearer ? { authorization: `Bearer ${bearer}` } : {}), ...(body ? { 'content-type': 'application/json' } : {}) },
    body: body ? JSON.stringify(body) : undefined,
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? {} : JSON.parse(text) };
}

/** Signs in as the person of credentials.json. */
async function person(): Promise<string> {
  const { status, body } = await call('POST', '/auth/login', null, credentials().reviewer);
  expect(status).toBe(200);
  return body.token as string;
}

async function start(env: Record<string, string> = {}): Promise<void> {
  server = spawnServer(dataDir, env);
  url = await addressOf(server);
}

async function startPrepared(): Promise<void> {
  await prepareData(dataDir);
  await start();
}

const startDemo = () => spawnProgram('node', ['services/platform/dist/demo.js'], { env: { DATA_DIR: dataDir } });

describe('credentials', () => {
  it('of the first start work at once, after a restart, and after a kill; only their owner can read them', async () => {
    await start();
    const first = credentials();
    expect(statSync(join(dataDir, 'credentials.json')).mode & 0o777).toBe(0o600);
    expect(first).toMatchObject({
      url,
      project_id: expect.stringMatching(/^prj_/),
      webhook_secret: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    for (const end of ['SIGTERM', 'SIGKILL'] as const) {
      await server.stop(end);
      await start();
      expect(credentials()).toEqual({ ...first, url });
      await person();
      const info = await call('GET', '/auth/key-info', first.api_key);
      expect(info).toMatchObject({ status: 200, body: { project_id: first.project_id } });
    }
    const templates = await call('GET', '/templates', first.api_key);
    expect((templates.body.items as { slug: string; status: string }[]).map(({ slug, status }) => [slug, status])).toEqual([
      ['email-draft', 'active'],
      ['refund', 'active'],
      ['production-change', 'active'],
    ]);
  });
});

describe('credentials of a later start', () => {
  beforeEach(startPrepared);

  it('printed with the start include a link that signs in once', async () => {
    const [, token] = await server.printed(/\/login#link=(\S+)/);
    await server.printed(new RegExp(`API key +${credentials().api_key}$`, 'm'));
    await server.printed(new RegExp(`Webhook secret +${credentials().webhook_secret}$`, 'm'));
    const first = await call('POST', '/auth/sign-in-link', null, { token });
    expect(first.status).toBe(200);
    expect((await call('GET', '/auth/me', first.body.token as string)).body).toMatchObject({ email: credentials().reviewer?.email });
    const { api_key } = credentials();
    const payload = { to: 'ann@customer.example', subject: 'Your order', body: 'On its way.' };
    const asked = await call('POST', '/reviews', api_key, { template: 'email-draft', payload });
    await call('POST', `/reviews/${asked.body.id}/action`, first.body.token as string, { action_id: 'approve' });
    const { body: decided } = await call('GET', `/reviews/${asked.body.id}`, api_key);
    expect(decided).toMatchObject({ status: 'decided', decided_by_auth: { method: 'sign_in_link' } });
    expect(await call('POST', '/auth/sign-in-link', null, { token })).toMatchObject({
      status: 401,
      body: { error: { code: 'invalid_sign_in_link' } },
    });
  });

  it('leave the person out while other machines reach the server, and have them again afterwards', async () => {
    await server.stop();
    await start({ HOST: '0.0.0.0' });
    expect(credentials().reviewer).toBeUndefined();
    expect(server.stdout).not.toContain('Sign in with');
    await server.stop();
    await start();
    await person();
  });

  it('do not tell a password that was changed, nor replace it, also after the file was lost', async () => {
    const { reviewer, api_key } = credentials();
    const made = await runCli(dataDir, 'users', 'create', '--project', 'demo', '--email', DEMO_EMAIL);
    expect(made.stdout).toMatch(/signs in and asks for a new password\.$/m);
    const [, token] = /#link=(\S+)/.exec(made.stdout) ?? [];
    const session = await call('POST', '/auth/sign-in-link', null, { token });
    expect(session.body).toMatchObject({ must_change_password: true });
    const password = 'chosen in the inbox';
    expect((await call('POST', '/auth/change-password', session.body.token as string, { new_password: password })).status).toBe(200);
    const told = `npx countersign users create --project demo --email ${DEMO_EMAIL}`;
    const login = async () => (await call('POST', '/auth/login', null, { email: DEMO_EMAIL, password })).status;
    for (const env of [{ HOST: '0.0.0.0' }, {}] as Record<string, string>[]) {
      await server.stop();
      await start(env);
      await server.printed(/Ctrl-C stops/);
      expect(credentials()).toMatchObject({ api_key, password_changed: true });
      expect(credentials().reviewer).toBeUndefined();
      expect(server.stdout).toContain(`DATA_DIR=${dataDir} ${told}`);
      expect(server.stdout).not.toContain(reviewer?.password);
      expect(await login()).toBe(200);
    }
    await server.stop();
    rmSync(join(dataDir, 'credentials.json'));
    await start();
    await server.printed(/Ctrl-C stops/);
    expect(server.stdout).toMatch(/Made anew: an agent API key\. The old key/);
    expect(server.stdout).toContain(told);
    expect(await login()).toBe(200);
  });

  it('tell no key an admin ended as if it were good, nor replace it unasked', async () => {
    const { api_key, project_id } = credentials();
    const session = await person();
    const { body } = await call('GET', '/settings/api-keys', session);
    const path = `/settings/api-keys/${(body.items as { id: string }[])[0]?.id}`;
    const again = async () => {
      await server.stop();
      await start();
      await server.printed(/Ctrl-C stops/);
    };
    const change = async (method: string, at: string, change?: object) =>
      expect((await call(method, at, await person(), change)).status).toBeLessThan(300);

    await change('PUT', path, { is_active: false });
    await again();
    const hint = `delete\n                  ${dataDir}/credentials.json and start again.\n`;
    const shown = `  Agent API key   ${api_key.slice(0, 12)}… was`;
    expect(server.stdout).toContain(`${shown} disabled, and is refused until an admin enables it. For another, ${hint}`);
    expect(server.stdout).not.toContain(api_key);
    expect(server.stdout).not.toContain('npm run demo');
    expect(credentials()).toMatchObject({ api_key, api_key_refused: 'disabled' });
    const refused = await startDemo().exited;
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringMatching(/^The server refuses the agent's key \(invalid_api_key\): .* delete /),
    ]);

    await change('PUT', path, { is_active: true });
    await again();
    expect(server.stdout).toContain(`  Agent API key   ${api_key}\n`);
    expect(credentials()).not.toHaveProperty('api_key_refused');

    await change('POST', `${path}/rotate`);
    await again();
    expect(server.stdout).toContain(`${shown} rotated, and is refused. For another, ${hint}`);
    expect(credentials()).toMatchObject({ api_key, api_key_refused: 'rotated' });

    await server.stop();
    rmSync(join(dataDir, 'credentials.json'));
    await start();
    expect((await call('GET', '/auth/key-info', credentials().api_key)).body).toMatchObject({ project_id });
  });

  it('are made anew when the file was lost, for the same project, which is said, and the key it had is disabled', async () => {
    const before = credentials();
    await server.stop();
    rmSync(join(dataDir, 'credentials.json'));
    for (const killed of [true, false]) {
      await start();
      await server.printed(/Ctrl-C stops/);
      const sentence = `Made anew: an agent API key and a password for ${DEMO_EMAIL}. The old key (${before.api_key.slice(0, 12)}…) is disabled.`;
      expect(server.stdout.includes(sentence)).toBe(killed);
      expect(credentials()).toMatchObject({ project_id: before.project_id, webhook_secret: before.webhook_secret });
      expect((await call('GET', '/auth/key-info', credentials().api_key)).status).toBe(200);
      expect((await call('GET', '/auth/key-info', before.api_key)).status).toBe(401);
      await person();
      if (killed) await server.stop('SIGKILL');
    }
  });
});

describe('npm run demo', () => {
  beforeEach(startPrepared);

  it('asks again with the feedback, receives the signed webhook, redeems exactly what was approved, and records it', async () => {
    const demo = startDemo();
    const [, id] = await demo.printed(/\/reviews\/(rev_\w+)/);
    const session = await person();
    const asked = await call('POST', `/reviews/${id}/action`, session, { action_id: 'request_changes', feedback: 'Name the card.' });
    expect(asked.status).toBe(200);
    await demo.printed(/Asked again, version 2/);
    const again = await call('GET', `/reviews/${id}`, session);
    expect(again.body).toMatchObject({
      status: 'pending',
      current_version: 2,
      payload: { body: expect.stringContaining('Name the card.') },
    });
    const { current_version: version, payload_digest } = again.body;
    const approval = { action_id: 'approve', edited_payload: { subject: 'Refunded' }, version, payload_digest };
    expect((await call('POST', `/reviews/${id}/action`, session, approval)).status).toBe(200);

    const { code, stdout } = await demo.exited;
    expect(code).toBe(0);
    // In the order of the README.
    const told = [
      'review.retried received',
      'Changes were requested: Name the card.',
      'Asked again',
      'review.decided received',
      'Approved by',
    ];
    const places = told.map((words) => stdout.indexOf(words));
    expect([places.includes(-1), places]).toEqual([false, places.toSorted((a, b) => a - b)]);
    expect(stdout).toContain('with edits');
    expect(stdout).toContain('Subject: Refunded');
    const { body } = await call('GET', `/reviews/${id}`, session);
    expect(body).toMatchObject({
      decision: 'edited',
      redemption: { digest: body.approved_digest, executor: 'Demo agent' },
      executions: [{ status: 'succeeded', output_digest: body.approved_digest }],
    });
  });

  it('sends nothing when a person says no', async () => {
    const demo = startDemo();
    const [, id] = await demo.printed(/\/reviews\/(rev_\w+)/);
    await call('POST', `/reviews/${id}/action`, await person(), { action_id: 'reject', feedback: 'Not our customer.' });
    const { code, stdout } = await demo.exited;
    expect(code).toBe(0);
    expect(stdout).toMatch(/Rejected by .*: Not our customer\.\nNothing was sent\./);
    expect(stdout).not.toContain('redeemed');
  });

  it('goes on polling while the server is restarted under it', async () => {
    const demo = startDemo();
    const [, id] = await demo.printed(/\/reviews\/(rev_\w+)/);
    const { port } = new URL(url);
    await server.stop('SIGKILL');
    await start({ PORT: port });
    await call('POST', `/reviews/${id}/action`, await person(), { action_id: 'approve' });
    const { code, stdout } = await demo.exited;
    expect(stdout).toContain('polling instead');
    expect(stdout).toContain('Sent (to this screen)');
    expect(code).toBe(0);
  });

  it('without credentials says whether the server has to be started, or again', async () => {
    rmSync(join(dataDir, 'credentials.json'));
    const beside = await startDemo().exited;
    expect(beside.stderr).toBe(
      `${dataDir}/credentials.json is missing. Restart the server (\`npm start\`, process ${server.child.pid}): it makes it anew.\n`,
    );
    await server.stop();
    const alone = await startDemo().exited;
    expect(alone.stderr).toBe(`${dataDir} contains no credentials. Start the server first, in another terminal (\`npm start\`).\n`);
    expect([beside.code, alone.code]).toEqual([1, 1]);
  });

  it('without a server says what to do', async () => {
    await server.stop();
    const { code, stderr } = await startDemo().exited;
    expect(stderr).toBe('The server is not responding. Start it first, in another terminal (`npm start`).\n');
    expect(code).toBe(1);
  });
});
