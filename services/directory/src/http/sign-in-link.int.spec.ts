import { newId } from '@countersign/event-store';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createSignInLink } from '../sign-in/sign-in.js';
import { from, HOME, type Newcomer, newcomer } from '../testing/newcomer.js';
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

describe('a one-time link', () => {
  const exchange = (token: string) => server.ask(null, 'POST', '/api/v1/auth/sign-in-link', { token }, from(HOME));
  const link = async (purpose: 'sign_in' | 'recovery') =>
    (await createSignInLink(server.deps, { person: ann.person, purpose }))?.token ?? '';

  it('signs in once', async () => {
    const token = await link('sign_in');
    const answer = await exchange(token);
    expect(breaches('exchangeSignInLink', answer)).toEqual([]);
    expect(answer.body).toMatchObject({ reviewer: { id: ann.person }, must_change_password: false });
    expect((await actorOf(server, answer.body.token)).auth.method).toBe('sign_in_link');
    expect([(await exchange(token)).status, code(await exchange('csl_made-up'))]).toEqual([401, 'invalid_sign_in_link']);
  });

  it('ends soon', async () => {
    const token = await link('sign_in');
    await server.db.advanceClock(15 * 60 + 1);
    expect(code(await exchange(token))).toBe('invalid_sign_in_link');
  });

  it('for recovery sets a new password without the old one, for an hour; for signing in it does not', async () => {
    const change = async (token: string) =>
      server.ask(await actorOf(server, token), 'POST', '/api/v1/auth/change-password', { new_password: 'recovered long secret' });
    const signIn = await exchange(await link('sign_in'));
    expect(code(await change(signIn.body.token))).toBe('wrong_password');

    const late = await exchange(await link('recovery'));
    expect(late.body.must_change_password).toBe(true);
    await server.db.advanceClock(3601);
    expect(code(await change(late.body.token))).toBe('wrong_password');

    const recovered = await exchange(await link('recovery'));
    expect((await actorOf(server, recovered.body.token)).auth.method).toBe('recovery_link');
    const changed = await change(recovered.body.token);
    expect([changed.status, changed.body.must_change_password]).toEqual([200, false]);
    expect((await ann.login({ password: 'recovered long secret' })).status).toBe(200);
  });

  it('is made for people who exist', async () => {
    expect(await createSignInLink(server.deps, { person: newId('per'), purpose: 'sign_in' })).toBeNull();
  });
});
