import { newId, uuidOf } from '@countersign/event-store';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { resetPassword } from '../commands/people.js';
import { OPERATOR } from '../provisioning.js';
import { createSignInLink } from '../sign-in/sign-in.js';
import { type Answer, actorOf, breaches, code, must, PASSWORD, type Station, startStation } from '../testing/station.js';

jest.setTimeout(60_000);

let station: Station;
let project: string;
let email: string;
let person: string;
let count = 0;
beforeAll(async () => {
  station = await startStation();
  project = await station.project('Mail');
  await station.person(project, 'admin@example.com', 'admin');
});
beforeEach(async () => {
  email = `person-${++count}@example.com`;
  person = await station.person(project, email, 'reviewer');
});
afterAll(() => station.close());

const from = (ip: string, device?: string) => ({
  'countersign-client-ip': ip,
  ...(device ? { cookie: `countersign_device=${device}` } : {}),
});
const login = (body: object, headers: Record<string, string> = from('203.0.113.1')) =>
  station.ask(null, 'POST', '/api/v1/auth/login', body, headers);

describe('signing in', () => {
  it('gives a client a token and where to go on', async () => {
    const answer = await login({ email: email.toUpperCase(), password: PASSWORD, return_to: '/reviews/rev_1?x=y#z' });
    expect(answer.status).toBe(200);
    expect(breaches('login', answer)).toEqual([]);
    expect(answer.body).toMatchObject({
      reviewer: { id: person, email, role: 'reviewer' },
      must_change_password: false,
      return_to: '/reviews/rev_1?x=y#z',
    });
    expect(answer.headers['set-cookie']).toBeUndefined();
    expect(answer.headers['cache-control']).toBe('no-store');
    expect((await actorOf(station, answer.body.token)).person_id).toBe(person);
  });

  it('gives the inbox cookies that no script reads, and no token', async () => {
    const answer = await login({ email, password: PASSWORD, cookie: true });
    expect(answer.body).not.toHaveProperty('token');
    const [session, device] = answer.headers['set-cookie'] as string[];
    expect(session).toMatch(/^countersign_session=cst_[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=604800; Secure$/);
    expect(device).toMatch(/^countersign_device=csd_[\w-]{43}; Path=\/api\/v1\/auth; HttpOnly; SameSite=Strict; Max-Age=\d+; Secure$/);
    const token = /=([^;]+)/.exec(session ?? '')?.[1] ?? '';
    expect((await actorOf(station, token)).person_id).toBe(person);
  });

  it.each(['//evil.example', '/\\evil.example', 'https://evil.example', 'evil', '/a\nb', '\\/evil', '/\t/evil.example'])(
    'does not send anybody to %j',
    async (return_to) => {
      expect(code(await login({ email, password: PASSWORD, return_to }))).toBe('invalid_return_to');
    },
  );

  it('answers a wrong password and an unknown address in the same words', async () => {
    const wrong = await login({ email, password: 'not the password at all' });
    const unknown = await login({ email: 'nobody@example.com', password: 'not the password at all' });
    expect(wrong.status).toBe(401);
    expect(code(wrong)).toBe('invalid_credentials');
    expect(unknown.body).toEqual(wrong.body);
  });

  it('knows a device again and keeps its mark, the latest twenty of a person', async () => {
    const devices = async () =>
      (await station.db.pool.query('select 1 from directory.known_devices where person = $1', [uuidOf(person)])).rows.length;
    await login({ email, password: PASSWORD });
    expect(await devices()).toBe(0);
    const mark = (answer: Answer) => /countersign_device=([^;]+)/.exec((answer.headers['set-cookie'] as string[])[1] ?? '')?.[1] ?? '';
    const first = mark(await login({ email, password: PASSWORD, cookie: true }));
    expect(mark(await login({ email, password: PASSWORD, cookie: true }, from('203.0.113.1', first)))).toBe(first);
    expect(await devices()).toBe(1);
    for (let n = 0; n < 25; n++) await login({ email, password: PASSWORD, cookie: true });
    expect(await devices()).toBe(20);
  });

  it('keeps only hashes of tokens', async () => {
    const { token } = await station.signIn(email);
    const { rows } = await station.db.ownerPool.query(`select string_agg(s::text, ' ') as everything from directory.sessions s`);
    expect(rows[0].everything).not.toContain(token);
  });
});

describe('the lockout', () => {
  const fail = async (times: number, ip: string, device?: string) => {
    let last: Answer | undefined;
    for (let n = 0; n < times; n++) last = await login({ email, password: 'not the password at all' }, from(ip, device));
    return last as Answer;
  };

  it('closes the account to the network after 5 failures, for 15 minutes, then 1 hour, then 24', async () => {
    expect(code(await fail(5, '198.51.100.1'))).toBe('invalid_credentials');
    const locked = await login({ email, password: PASSWORD }, from('198.51.100.200'));
    expect(locked.status).toBe(429);
    expect(code(locked)).toBe('account_locked');
    expect(Number(locked.headers['retry-after'])).toBeGreaterThan(890);
    expect(Number(locked.headers['retry-after'])).toBeLessThanOrEqual(900);

    await station.db.advanceClock(901);
    expect(code(await fail(5, '198.51.100.1'))).toBe('invalid_credentials');
    expect(Number((await fail(1, '198.51.100.1')).headers['retry-after'])).toBeGreaterThan(3590);
    await station.db.advanceClock(3601);
    await fail(5, '198.51.100.1');
    await station.db.advanceClock(3601);
    await fail(5, '198.51.100.1');
    expect(Number((await fail(1, '198.51.100.1')).headers['retry-after'])).toBeGreaterThan(86_390);
  });

  it('does not keep the person out: not from their own network, nor on a device they used before', async () => {
    const first = await login({ email, password: PASSWORD, cookie: true }, from('192.0.2.10'));
    const device = /countersign_device=([^;]+)/.exec((first.headers['set-cookie'] as string[])[1] ?? '')?.[1] ?? '';
    await fail(30, '198.51.100.9');
    expect(code(await fail(1, '198.51.100.9'))).toBe('account_locked');
    // Another network.
    expect((await login({ email, password: PASSWORD }, from('192.0.2.10'))).status).toBe(200);
    // The stranger's own network, behind the same address even: the device is known.
    expect((await login({ email, password: PASSWORD }, from('198.51.100.9', device))).status).toBe(200);
    // A stranger cannot make up a device, nor use that of another person.
    expect(code(await login({ email, password: PASSWORD }, from('198.51.100.9', 'csd_made-up')))).toBe('account_locked');
    const other = await login({ email: 'admin@example.com', password: PASSWORD, cookie: true }, from('192.0.2.11'));
    const foreign = /countersign_device=([^;]+)/.exec((other.headers['set-cookie'] as string[])[1] ?? '')?.[1] ?? '';
    expect(code(await login({ email, password: PASSWORD }, from('198.51.100.9', foreign)))).toBe('account_locked');
    // A stolen device is counted like any other source.
    expect(code(await fail(6, '198.51.100.9', device))).toBe('account_locked');
    expect((await login({ email, password: PASSWORD }, from('192.0.2.10'))).status).toBe(200);
  });

  it('lets no more than five of many simultaneous guesses through', async () => {
    const guesses = await Promise.all(
      Array.from({ length: 25 }, () => login({ email, password: 'not the password at all' }, from('198.51.100.77'))),
    );
    expect(guesses.filter((answer) => code(answer) === 'invalid_credentials')).toHaveLength(5);
    expect(guesses.filter((answer) => code(answer) === 'account_locked')).toHaveLength(20);
  });

  it('treats an address nobody has alike', async () => {
    const guess = () => login({ email: `nobody-${count}@example.com`, password: 'not the password at all' }, from('198.51.100.78'));
    for (let n = 0; n < 5; n++) expect(code(await guess())).toBe('invalid_credentials');
    expect(code(await guess())).toBe('account_locked');
  });

  it('forgets failures once the password was right', async () => {
    await fail(4, '198.51.100.80');
    expect((await login({ email, password: PASSWORD }, from('198.51.100.80'))).status).toBe(200);
    expect(code(await fail(4, '198.51.100.80'))).toBe('invalid_credentials');
    expect((await login({ email, password: PASSWORD }, from('198.51.100.80'))).status).toBe(200);
  });

  it('names nobody in its table', async () => {
    await fail(1, '198.51.100.81');
    const { rows } = await station.db.ownerPool.query(`select string_agg(f::text, ' ') as everything from directory.login_failures f`);
    expect(rows[0].everything).not.toContain('example.com');
  });
});

describe('sessions', () => {
  it('are listed with the current one marked, and ended one by one or all', async () => {
    const [mine, other, third] = [await station.signIn(email), await station.signIn(email), await station.signIn(email)];
    const stranger = await station.signIn('admin@example.com');
    const listed = await station.ask(mine.actor, 'GET', '/api/v1/auth/sessions');
    expect(breaches('listSessions', listed)).toEqual([]);
    expect(listed.body).toMatchObject({ object: 'list', total: 3, has_more: false });
    expect(listed.body.items.filter((session: { is_current: boolean }) => session.is_current)).toMatchObject([
      { id: mine.actor.session_id, ip: '203.0.113.1', method: 'password' },
    ]);

    const end = (id: string) => station.ask(mine.actor, 'DELETE', `/api/v1/auth/sessions/${id}`);
    expect((await end(other.actor.session_id)).status).toBe(204);
    expect((await end(other.actor.session_id)).status).toBe(204);
    for (const id of [stranger.actor.session_id, 'ses_nonsense', '1']) expect(code(await end(id))).toBe('session_not_found');
    await expect(actorOf(station, other.token)).rejects.toThrow(/invalid_token/);

    const revoked = await station.ask(mine.actor, 'POST', '/api/v1/auth/sessions/revoke-all');
    expect(breaches('revokeSessions', revoked)).toEqual([]);
    expect(revoked.body).toEqual({ revoked: 1 });
    await expect(actorOf(station, third.token)).rejects.toThrow(/invalid_token/);
    expect((await actorOf(station, mine.token)).person_id).toBe(person);
    expect((await station.ask(mine.actor, 'POST', '/api/v1/auth/sessions/revoke-all', { include_current: true })).body).toEqual({
      revoked: 1,
    });
    await expect(actorOf(station, mine.token)).rejects.toThrow(/invalid_token/);
    expect((await actorOf(station, stranger.token)).email).toBe('admin@example.com');
  });

  it('end by signing out, which takes the cookie back', async () => {
    const { actor, token } = await station.signIn(email);
    const answer = await station.ask(actor, 'POST', '/api/v1/auth/logout');
    expect(answer.body).toEqual({ ok: true });
    expect(answer.headers['set-cookie']).toMatch(/^countersign_session=; .*Max-Age=0/);
    await expect(actorOf(station, token)).rejects.toThrow(/invalid_token/);
  });

  it('tell who is signed in, under the name they choose', async () => {
    const { actor } = await station.signIn(email);
    const me = await station.ask(actor, 'GET', '/api/v1/auth/me');
    expect(breaches('getMe', me)).toEqual([]);
    expect(me.body).toMatchObject({
      id: person,
      role: 'reviewer',
      project_id: project,
      projects: [{ id: project, name: 'Mail', role: 'reviewer' }],
    });
    expect(me.body.scopes).toContain('reviews:decide');
    expect(me.body.scopes).not.toContain('audit:read');
    const renamed = await station.ask(actor, 'PUT', '/api/v1/auth/profile', { name: 'Ann Lee' });
    expect(breaches('updateProfile', renamed)).toEqual([]);
    expect(renamed.body).toEqual({ ...me.body, name: 'Ann Lee' });
  });
});

describe('changing the password', () => {
  const next = 'an entirely new secret';
  it('ends every session and opens a new one', async () => {
    const [mine, other] = [await station.signIn(email), await station.signIn(email)];
    const answer = await station.ask(mine.actor, 'POST', '/api/v1/auth/change-password', {
      current_password: PASSWORD,
      new_password: next,
    });
    expect(breaches('changePassword', answer)).toEqual([]);
    for (const token of [mine.token, other.token]) await expect(actorOf(station, token)).rejects.toThrow(/invalid_token/);
    expect((await actorOf(station, answer.body.token)).person_id).toBe(person);
    expect(code(await login({ email, password: PASSWORD }))).toBe('invalid_credentials');
    expect((await login({ email, password: next })).status).toBe(200);
  });

  it('needs the current one, whose guesses count like sign-ins', async () => {
    const { actor } = await station.signIn(email);
    const change = (body: object) =>
      station.ask(actor, 'POST', '/api/v1/auth/change-password', { new_password: next, ...body }, from('203.0.113.99'));
    expect(code(await change({}))).toBe('wrong_password');
    for (let n = 0; n < 5; n++) expect(code(await change({ current_password: 'not the password at all' }))).toBe('wrong_password');
    const locked = await change({ current_password: PASSWORD });
    expect([locked.status, code(locked)]).toEqual([429, 'too_many_attempts']);
    expect(locked.headers['retry-after']).toBeDefined();
  });

  it.each([
    ['short', 'too_short'],
    ['x'.repeat(129), 'too_long'],
    ['password123456', 'breached'],
  ])('refuses %s', async (new_password, expected) => {
    const { actor } = await station.signIn(email);
    const answer = await station.ask(actor, 'POST', '/api/v1/auth/change-password', { current_password: PASSWORD, new_password });
    expect([answer.status, code(answer)]).toEqual([400, expected]);
  });

  it('is asked for after an operator set one', async () => {
    must(await resetPassword(station.deps, person, 'set by an operator', OPERATOR));
    expect((await login({ email, password: 'set by an operator' })).body.must_change_password).toBe(true);
  });
});

describe('a one-time link', () => {
  const exchange = (token: string) => station.ask(null, 'POST', '/api/v1/auth/sign-in-link', { token }, from('203.0.113.1'));
  const link = async (purpose: 'sign_in' | 'recovery') => (await createSignInLink(station.deps, { person, purpose }))?.token ?? '';

  it('signs in once', async () => {
    const token = await link('sign_in');
    const answer = await exchange(token);
    expect(breaches('exchangeSignInLink', answer)).toEqual([]);
    expect(answer.body).toMatchObject({ reviewer: { id: person }, must_change_password: false });
    expect((await actorOf(station, answer.body.token)).auth.method).toBe('recovery_link');
    expect([(await exchange(token)).status, code(await exchange('csl_made-up'))]).toEqual([401, 'invalid_sign_in_link']);
  });

  it('ends soon', async () => {
    const token = await link('sign_in');
    await station.db.advanceClock(15 * 60 + 1);
    expect(code(await exchange(token))).toBe('invalid_sign_in_link');
  });

  it('for recovery sets a new password without the old one, for an hour; for signing in it does not', async () => {
    const change = async (token: string) =>
      station.ask(await actorOf(station, token), 'POST', '/api/v1/auth/change-password', { new_password: 'recovered long secret' });
    const signIn = await exchange(await link('sign_in'));
    expect(code(await change(signIn.body.token))).toBe('wrong_password');

    const late = await exchange(await link('recovery'));
    expect(late.body.must_change_password).toBe(true);
    await station.db.advanceClock(3601);
    expect(code(await change(late.body.token))).toBe('wrong_password');

    const recovered = await exchange(await link('recovery'));
    const changed = await change(recovered.body.token);
    expect([changed.status, changed.body.must_change_password]).toEqual([200, false]);
    expect((await login({ email, password: 'recovered long secret' })).status).toBe(200);
  });

  it('is made for people who exist', async () => {
    expect(await createSignInLink(station.deps, { person: newId('per'), purpose: 'sign_in' })).toBeNull();
  });
});

describe('without the gateway’s signature', () => {
  it.each(['/api/v1/auth/me', '/internal/people?project_id=x', '/api/v1/auth/login'])('%s answers nothing', async (url) => {
    expect((await station.app.inject({ method: 'GET', url })).statusCode).toBe(401);
  });
});
