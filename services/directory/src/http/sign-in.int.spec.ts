import { uuidOf } from '@countersign/event-store';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { markOf, type Newcomer, newcomer } from '../testing/newcomer.js';
import { actorOf, breaches, code, type Server, startServer } from '../testing/server.js';

let server: Server;
let project: string;
let ann: Newcomer;
beforeAll(async () => {
  server = await startServer();
  project = await server.project('Mail');
  await server.person(project, 'admin@example.com', 'admin');
});
beforeEach(async () => {
  ann = await newcomer(server, project);
});
afterAll(() => server.close());

describe('signing in', () => {
  it('gives a client a token and where to go on', async () => {
    const answer = await ann.login({ email: ann.email.toUpperCase(), return_to: '/reviews/rev_1?x=y#z' });
    expect(answer.status).toBe(200);
    expect(breaches('login', answer)).toEqual([]);
    expect(answer.body).toMatchObject({
      reviewer: { id: ann.person, email: ann.email, role: 'reviewer' },
      must_change_password: false,
      return_to: '/reviews/rev_1?x=y#z',
    });
    expect(answer.headers['set-cookie']).toBeUndefined();
    expect(answer.headers['cache-control']).toBe('no-store');
    expect((await actorOf(server, answer.body.token)).person_id).toBe(ann.person);
  });

  it('gives the inbox cookies that no script reads, and no token', async () => {
    const answer = await ann.login({ cookie: true });
    expect(answer.body).not.toHaveProperty('token');
    const [session, device] = answer.headers['set-cookie'] as string[];
    expect(session).toMatch(/^countersign_session=cst_[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=604800; Secure$/);
    expect(device).toMatch(/^countersign_device=csd_[\w-]{43}; Path=\/api\/v1\/auth; HttpOnly; SameSite=Strict; Max-Age=\d+; Secure$/);
    const token = /=([^;]+)/.exec(session ?? '')?.[1] ?? '';
    expect((await actorOf(server, token)).person_id).toBe(ann.person);
  });

  it.each(['//evil.example', '/\\evil.example', 'https://evil.example', 'evil', '/a\nb', '\\/evil', '/\t/evil.example'])(
    'does not send anybody to %j',
    async (return_to) => {
      expect(code(await ann.login({ return_to }))).toBe('invalid_return_to');
    },
  );

  it('answers a wrong password and an unknown address in the same words', async () => {
    const wrong = await ann.login({ password: 'not the password at all' });
    const unknown = await ann.login({ email: 'nobody@example.com', password: 'not the password at all' });
    expect(wrong.status).toBe(401);
    expect(code(wrong)).toBe('invalid_credentials');
    expect(unknown.body).toEqual(wrong.body);
  });

  it('knows a device again and keeps its mark, the latest twenty of a person', async () => {
    const devices = async () =>
      (await server.db.pool.query('select 1 from directory.known_devices where person = $1', [uuidOf(ann.person)])).rows.length;
    await ann.login();
    expect(await devices()).toBe(0);
    const first = markOf(await ann.login({ cookie: true }));
    expect(markOf(await ann.login({ cookie: true, device: first }))).toBe(first);
    expect(await devices()).toBe(1);
    for (let n = 0; n < 25; n++) await ann.login({ cookie: true });
    expect(await devices()).toBe(20);
  });

  it('knows a browser that several people sign in with for each of them', async () => {
    const other = await newcomer(server, project);
    const device = markOf(await ann.login({ cookie: true }));
    expect(markOf(await other.login({ cookie: true, device }))).toBe(device);
    await ann.fail(5);
    await other.fail(5);
    expect((await ann.login({ device })).status).toBe(200);
    expect((await other.login({ device })).status).toBe(200);
  });

  it('keeps only hashes of tokens', async () => {
    const { token } = await server.signIn(ann.email);
    const { rows } = await server.db.ownerPool.query(`select string_agg(s::text, ' ') as everything from directory.sessions s`);
    expect(rows[0].everything).not.toContain(token);
  });
});

describe('without the gateway’s signature', () => {
  it.each(['/api/v1/auth/me', '/internal/people?project_id=x', '/api/v1/auth/login'])('%s answers nothing', async (url) => {
    expect((await server.app.inject({ method: 'GET', url })).statusCode).toBe(401);
  });
});
