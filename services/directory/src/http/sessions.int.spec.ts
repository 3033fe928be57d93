import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type Newcomer, newcomer } from '../testing/newcomer.js';
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

describe('sessions', () => {
  it('are listed with the current one marked, and ended one by one or all', async () => {
    const [mine, other, third] = [await server.signIn(ann.email), await server.signIn(ann.email), await server.signIn(ann.email)];
    const stranger = await server.signIn('admin@example.com');
    const listed = await server.ask(mine.actor, 'GET', '/api/v1/auth/sessions');
    expect(breaches('listSessions', listed)).toEqual([]);
    expect(listed.body).toMatchObject({ object: 'list', total: 3, has_more: false });
    expect(listed.body.items.filter((session: { is_current: boolean }) => session.is_current)).toMatchObject([
      { id: mine.actor.session_id, ip: '203.0.113.1', method: 'password' },
    ]);

    const end = (id: string) => server.ask(mine.actor, 'DELETE', `/api/v1/auth/sessions/${id}`);
    expect((await end(other.actor.session_id)).status).toBe(204);
    expect((await end(other.actor.session_id)).status).toBe(204);
    for (const id of [stranger.actor.session_id, 'ses_nonsense', '1']) expect(code(await end(id))).toBe('session_not_found');
    await expect(actorOf(server, other.token)).rejects.toThrow(/invalid_token/);

    const revoked = await server.ask(mine.actor, 'POST', '/api/v1/auth/sessions/revoke-all');
    expect(breaches('revokeSessions', revoked)).toEqual([]);
    expect(revoked.body).toEqual({ revoked: 1 });
    await expect(actorOf(server, third.token)).rejects.toThrow(/invalid_token/);
    expect((await actorOf(server, mine.token)).person_id).toBe(ann.person);
    expect((await server.ask(mine.actor, 'POST', '/api/v1/auth/sessions/revoke-all', { include_current: true })).body).toEqual({
      revoked: 1,
    });
    await expect(actorOf(server, mine.token)).rejects.toThrow(/invalid_token/);
    expect((await actorOf(server, stranger.token)).email).toBe('admin@example.com');
  });

  it('end by signing out, which takes the cookie back', async () => {
    const { actor, token } = await server.signIn(ann.email);
    const answer = await server.ask(actor, 'POST', '/api/v1/auth/logout');
    expect(answer.body).toEqual({ ok: true });
    expect(answer.headers['set-cookie']).toMatch(/^countersign_session=; .*Max-Age=0/);
    await expect(actorOf(server, token)).rejects.toThrow(/invalid_token/);
  });

  it('tell who is signed in, under the name they choose', async () => {
    const { actor } = await server.signIn(ann.email);
    const me = await server.ask(actor, 'GET', '/api/v1/auth/me');
    expect(breaches('getMe', me)).toEqual([]);
    expect(me.body).toMatchObject({
      id: ann.person,
      role: 'reviewer',
      project_id: project,
      projects: [{ id: project, name: 'Mail', role: 'reviewer' }],
    });
    expect(me.body.scopes).toContain('reviews:decide');
    expect(me.body.scopes).not.toContain('audit:read');
    const renamed = await server.ask(actor, 'PUT', '/api/v1/auth/profile', { name: 'Ann Lee' });
    expect(breaches('updateProfile', renamed)).toEqual([]);
    expect(renamed.body).toEqual({ ...me.body, name: 'Ann Lee' });
  });
});
