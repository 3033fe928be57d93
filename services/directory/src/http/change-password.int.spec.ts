import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { resetPassword } from '../commands/people.js';
import { OPERATOR } from '../provisioning.js';
import { from, type Newcomer, newcomer } from '../testing/newcomer.js';
import { actorOf, breaches, code, must, PASSWORD, type Server, startServer } from '../testing/server.js';

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

describe('changing the password', () => {
  const next = 'an entirely new secret';
  it('ends every session and opens a new one', async () => {
    const [mine, other] = [await server.signIn(ann.email), await server.signIn(ann.email)];
    const answer = await server.ask(mine.actor, 'POST', '/api/v1/auth/change-password', {
      current_password: PASSWORD,
      new_password: next,
    });
    expect(breaches('changePassword', answer)).toEqual([]);
    for (const token of [mine.token, other.token]) await expect(actorOf(server, token)).rejects.toThrow(/invalid_token/);
    expect((await actorOf(server, answer.body.token)).person_id).toBe(ann.person);
    expect(code(await ann.login())).toBe('invalid_credentials');
    expect((await ann.login({ password: next })).status).toBe(200);
  });

  it('needs the current one, whose guesses count like sign-ins', async () => {
    const { actor } = await server.signIn(ann.email);
    const change = (body: object) =>
      server.ask(actor, 'POST', '/api/v1/auth/change-password', { new_password: next, ...body }, from('203.0.113.99'));
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
    const { actor } = await server.signIn(ann.email);
    const answer = await server.ask(actor, 'POST', '/api/v1/auth/change-password', { current_password: PASSWORD, new_password });
    expect([answer.status, code(answer)]).toEqual([400, expected]);
  });

  it('is asked for after an operator set one', async () => {
    must(await resetPassword(server.deps, ann.person, 'set by an operator', OPERATOR));
    expect((await ann.login({ password: 'set by an operator' })).body.must_change_password).toBe(true);
  });
});
