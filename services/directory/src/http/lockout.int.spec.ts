import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ACCOUNT, ADDRESS } from '../credentials/lockout.js';
import { clearFailures } from '../sign-in/attempts.js';
import { createSignInLink } from '../sign-in/sign-in.js';
import { from, HOME, markOf, type Newcomer, newcomer } from '../testing/newcomer.js';
import { type Answer, code, PASSWORD, type Server, startServer } from '../testing/server.js';

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

const retryAfter = (answer: Answer): number => Number(answer.headers['retry-after']);

describe('a stranger who knows the e-mail address and fails from the person’s own address', () => {
  it('does not keep out a browser the person has signed in with', async () => {
    const device = markOf(await ann.login({ cookie: true }));
    await ann.fail(30);
    const stranger = await ann.login();
    expect([stranger.status, code(stranger)]).toEqual([429, 'account_locked']);
    const mine = await ann.login({ device, cookie: true });
    expect([mine.status, markOf(mine)]).toEqual([200, device]);
  });

  it('does not keep out somebody with a sign-in link', async () => {
    await ann.fail(30);
    const token = (await createSignInLink(server.deps, { person: ann.person, purpose: 'sign_in' }))?.token ?? '';
    const answer = await server.ask(null, 'POST', '/api/v1/auth/sign-in-link', { token, cookie: true }, from(HOME));
    expect(answer.status).toBe(200);
    expect((await ann.login({ device: markOf(answer) })).status).toBe(200);
  });

  it('keeps out somebody with neither for 15 minutes, however often they go on', async () => {
    expect(code(await ann.fail(5))).toBe('invalid_credentials');
    const locked = await ann.login();
    expect(retryAfter(locked)).toBeGreaterThan(890);
    expect(retryAfter(locked)).toBeLessThanOrEqual(900);
    await server.db.advanceClock(600);
    expect(retryAfter(await ann.fail(20))).toBeLessThanOrEqual(300);
    await server.db.advanceClock(301);
    expect((await ann.login()).status).toBe(200);
    expect(code(await ann.fail(4))).toBe('invalid_credentials');
    expect((await ann.login()).status).toBe(200);
  });

  it('never closes it for longer than that, at the tenth and the twentieth failure neither', async () => {
    for (let round = 0; round < 5; round++) {
      expect(code(await ann.fail(5))).toBe('invalid_credentials');
      expect(retryAfter(await ann.login())).toBeLessThanOrEqual(900);
      await server.db.advanceClock(901);
    }
    expect((await ann.login()).status).toBe(200);
  });

  it('does not keep the person out from elsewhere', async () => {
    await ann.fail(30, { ip: '198.51.100.9' });
    expect((await ann.login()).status).toBe(200);
    expect((await ann.login({ ip: '198.51.100.10' })).status).toBe(200);
  });

  it('cannot make up a device, nor use that of another person', async () => {
    await ann.fail(5);
    expect(code(await ann.login({ device: 'csd_made-up' }))).toBe('account_locked');
    const foreign = markOf(await ann.login({ email: 'admin@example.com', cookie: true }));
    expect(code(await ann.login({ device: foreign }))).toBe('account_locked');
  });

  it('leaves those with whom they share the address a guess each, and does not stop them', async () => {
    const others = Array.from({ length: ADDRESS.bound / 5 + 1 }, (_, n) => `nobody-${n}@example.org`);
    for (const email of others) for (let n = 0; n < 5; n++) await ann.login({ email, password: 'not the password at all' });
    expect((await ann.login()).status).toBe(200);
    expect(code(await ann.fail(1))).toBe('invalid_credentials');
    expect(retryAfter(await ann.login())).toBeLessThanOrEqual(900);
    await server.db.advanceClock(1_800);
    expect(code(await ann.fail(4))).toBe('invalid_credentials');
    expect((await ann.login()).status).toBe(200);
  });
});

describe('guessing', () => {
  it('in a flood from one address delays nobody elsewhere', async () => {
    const guess = (n: number) => ann.login({ email: `nobody-${n}@example.net`, password: 'not the password at all', ip: '198.51.100.99' });
    for (let n = 0; n <= ADDRESS.bound; n++) expect(code(await guess(n))).toBe('invalid_credentials');
    const flood = Promise.all(Array.from({ length: 200 }, (_, n) => guess(1_000 + n)));
    expect((await ann.login()).status).toBe(200);
    for (const answer of await flood) {
      if (answer.status === 429) expect(code(answer)).toBe('too_many_attempts');
      // Whoever has waited for too long is told to come again.
      else expect(['invalid_credentials', 'service_unavailable']).toContain(code(answer));
    }
  });

  it('in a flood from an address that has not failed yet takes ten places, and others have their turn between them', async () => {
    const guess = (n: number) => ann.login({ email: `nobody-${n}@example.com`, password: 'not the password at all', ip: '198.51.100.98' });
    const flood = Array.from({ length: 130 }, (_, n) => guess(2_000 + n));
    expect((await ann.login({ ip: '198.51.100.97' })).status).toBe(200);
    const answers = await Promise.all(flood);
    expect(answers.filter((answer) => code(answer) === 'invalid_credentials').length).toBeLessThan(100);
    const away = answers.filter((answer) => code(answer) !== 'invalid_credentials');
    for (const answer of away) {
      expect([answer.status, code(answer), retryAfter(answer)]).toEqual([429, 'too_many_attempts', 2]);
      expect(answer.body.error.message).toContain('Too many sign-ins from this address are in progress');
    }
  });

  it('lets no more than five of fifty simultaneous guesses through', async () => {
    const guesses = await Promise.all(
      Array.from({ length: 50 }, () => ann.login({ password: 'not the password at all', ip: '198.51.100.77' })),
    );
    expect(guesses.filter((answer) => code(answer) === 'invalid_credentials')).toHaveLength(5);
    // The others are told to wait: for the account, or for those of the same address that are still being checked.
    expect(guesses.filter((answer) => ['account_locked', 'too_many_attempts'].includes(code(answer) ?? ''))).toHaveLength(45);
  });

  it('is slowed for an account over all addresses, though not on a known device, from where nothing counts there', async () => {
    const device = markOf(await ann.login({ cookie: true }));
    const guess = (n: number) => ann.fail(1, { ip: `198.18.${n}.1` });
    for (let n = 0; n < ACCOUNT.bound; n++) expect(code(await guess(n))).toBe('invalid_credentials');
    const slowed = await guess(200);
    expect([slowed.status, code(slowed)]).toEqual([429, 'too_many_attempts']);
    expect(retryAfter(slowed)).toBeLessThanOrEqual(120);
    expect((await ann.login({ device })).status).toBe(200);
    await server.db.advanceClock(121);
    expect((await ann.login({ ip: '198.18.201.1' })).status).toBe(200);
    expect(code(await guess(202))).toBe('invalid_credentials');
    expect(code(await guess(203))).toBe('too_many_attempts');
  });

  it('on a stolen device closes that device: for 15 minutes, then an hour, then a day, and no other', async () => {
    const [stolen, own] = [markOf(await ann.login({ cookie: true })), markOf(await ann.login({ cookie: true }))];
    for (const seconds of [900, 3_600, 3_600, 86_400]) {
      expect(code(await ann.fail(5, { device: stolen }))).toBe('invalid_credentials');
      const locked = await ann.login({ device: stolen });
      expect(retryAfter(locked)).toBeGreaterThan(seconds - 10);
      expect(retryAfter(locked)).toBeLessThanOrEqual(seconds);
      expect((await ann.login({ device: own })).status).toBe(200);
      expect((await ann.login()).status).toBe(200);
      if (seconds < 86_400) await server.db.advanceClock(seconds + 1);
    }
  });

  it('at an address nobody has is answered alike', async () => {
    const guess = () => ann.login({ email: `nobody-of-${ann.email}` });
    for (let n = 0; n < 5; n++) expect(code(await guess())).toBe('invalid_credentials');
    expect(code(await guess())).toBe('account_locked');
  });

  it('is forgotten once the password was right, by this account alone', async () => {
    const other = await newcomer(server, project);
    await other.fail(4);
    await ann.fail(4);
    expect((await ann.login()).status).toBe(200);
    expect(code(await ann.fail(4))).toBe('invalid_credentials');
    await other.fail(1);
    expect(code(await other.login())).toBe('account_locked');
  });

  it('is forgotten everywhere when an operator says so', async () => {
    await ann.fail(6);
    await ann.fail(6, { ip: '198.51.100.9' });
    expect(await clearFailures(server.db.pool, ann.email.toUpperCase())).toBe(2);
    expect((await ann.login({ password: PASSWORD })).status).toBe(200);
    expect(await clearFailures(server.db.pool, ann.email)).toBe(0);
  });

  it('leaves no name in its tables', async () => {
    await ann.fail(1);
    const { rows } = await server.db.ownerPool.query(
      `select string_agg(f::text, ' ') || (select string_agg(l::text, ' ') from directory.guess_levels l) as everything from directory.login_failures f`,
    );
    expect(rows[0].everything).toContain(HOME);
    expect(rows[0].everything).not.toContain('example');
  });
});
