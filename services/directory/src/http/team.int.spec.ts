import type { PersonActor } from '@countersign/contracts';
import { newId } from '@countersign/event-store';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Answer, actorOf, breaches, type Cast, castOf, code, PASSWORD, type Server, startServer } from '../testing/server.js';

let server: Server;
let project: string;
let admin: PersonActor;
let reviewer: PersonActor;
let stranger: PersonActor;
let settings: Cast['settings'];
beforeAll(async () => {
  server = await startServer();
  ({ project, admin, reviewer, stranger, settings } = await castOf(server));
});
afterAll(() => server.close());

describe('the team', () => {
  const invite = (email: string, role?: string) => settings(admin, 'POST', 'team/invite', { email, ...(role ? { role } : {}) });
  const tokenOf = (invited: Answer) => new URL(invited.body.invite_url).hash.slice(1);
  const accept = (token: string, body: object = {}) =>
    server.ask(
      null,
      'POST',
      `/api/v1/auth/invite/${token}`,
      { name: 'Guest', password: PASSWORD, ...body },
      { 'countersign-client-ip': '192.0.2.1' },
    );

  it('lists its people for everybody in it', async () => {
    const team = await settings(reviewer, 'GET', 'team');
    expect(breaches('listMembers', team)).toEqual([]);
    expect(team.body.items).toMatchObject([
      { id: admin.person_id, email: 'admin@example.com', role: 'admin', is_active: true },
      { id: reviewer.person_id, role: 'reviewer', is_active: true },
    ]);
    expect(team.body.items[0].last_sign_in_at).not.toBeNull();
  });

  it('takes in whoever accepts an invitation, once', async () => {
    const invited = await invite('Guest@Example.com');
    expect(invited.status).toBe(201);
    expect(breaches('inviteMember', invited)).toEqual([]);
    expect(invited.body).toMatchObject({ email: 'guest@example.com', role: 'reviewer' });
    expect(invited.body.invite_url).toMatch(/^https:\/\/gate\.example\.com\/invite#csi_/);
    const token = tokenOf(invited);
    const offer = await server.ask(null, 'GET', `/api/v1/auth/invite/${token}`);
    expect(breaches('getInvite', offer)).toEqual([]);
    expect(offer.body).toMatchObject({ email: 'guest@example.com', role: 'reviewer', project: { id: project, name: 'Mail' } });
    expect(code(await accept(token, { password: 'short' }))).toBe('too_short');
    const accepted = await accept(token);
    expect(accepted.status).toBe(201);
    expect(breaches('acceptInvite', accepted)).toEqual([]);
    expect((await actorOf(server, accepted.body.token)).roles).toEqual({ [project]: 'reviewer' });
    const again = await accept(token);
    expect([again.status, code(again)]).toEqual([410, 'invite_used']);
    expect(code(await server.ask(null, 'GET', `/api/v1/auth/invite/${token}`))).toBe('invite_used');
    const duplicate = await invite('guest@example.com');
    expect([duplicate.status, code(duplicate)]).toEqual([409, 'duplicate_email']);
    const log = JSON.stringify((await server.deps.store.readStream(project)).events);
    expect(log).not.toContain('guest@example.com');
    expect(log).not.toContain(token);
  });

  it('lets the newest invitation of an address count, for 7 days', async () => {
    const [first, second] = [tokenOf(await invite('late@example.com')), tokenOf(await invite('late@example.com', 'admin'))];
    expect([(await accept(first)).status, code(await accept(first))]).toEqual([404, 'invite_invalid']);
    expect(code(await accept('csi_made-up'))).toBe('invite_invalid');
    await server.db.advanceClock(7 * 24 * 3600);
    expect([(await accept(second)).status, code(await accept(second))]).toEqual([410, 'invite_expired']);
  });

  it('takes in somebody who is in the directory already by their own password only', async () => {
    const token = tokenOf(await invite('stranger@example.com'));
    const wrong = await accept(token, { password: 'not the password at all' });
    expect([wrong.status, code(wrong)]).toEqual([409, 'email_taken']);
    const accepted = await accept(token);
    expect(accepted.status).toBe(201);
    const actor = await actorOf(server, accepted.body.token);
    expect(actor).toMatchObject({ person_id: stranger.person_id, name: 'stranger' });
    expect(actor.roles[project]).toBe('reviewer');
  });

  it('changes roles, lets people go and takes them back', async () => {
    const guest = (await settings(admin, 'GET', 'team')).body.items.find(
      (member: { email: string }) => member.email === 'guest@example.com',
    ).id;
    const put = (id: string, body: object, by = admin) => settings(by, 'PUT', `team/${id}`, body);
    const promoted = await put(guest, { role: 'admin' });
    expect(breaches('updateMember', promoted)).toEqual([]);
    expect(promoted.body).toMatchObject({ role: 'admin', is_active: true });
    expect(code(await put(admin.person_id, { role: 'reviewer' }))).toBe('cannot_edit_self');
    expect(code(await settings(admin, 'DELETE', `team/${admin.person_id}`))).toBe('cannot_edit_self');
    expect((await put(guest, { role: 'reviewer' })).body.role).toBe('reviewer');
    const last = await put(admin.person_id, { role: 'reviewer' });
    expect([last.status, code(last)]).toEqual([403, 'last_admin']);
    expect(code(await settings(admin, 'DELETE', `team/${admin.person_id}`))).toBe('last_admin');

    expect((await settings(admin, 'DELETE', `team/${guest}`)).status).toBe(204);
    expect((await settings(admin, 'DELETE', `team/${guest}`)).status).toBe(204);
    const listed = (await settings(admin, 'GET', 'team')).body.items.find((member: { id: string }) => member.id === guest);
    expect(listed).toMatchObject({ is_active: false, role: 'reviewer' });
    expect((await put(guest, { is_active: true, role: 'admin' })).body).toMatchObject({ is_active: true, role: 'admin' });
    expect((await put(guest, { is_active: false })).body.is_active).toBe(false);
    for (const id of ['nonsense', newId('per'), newId('key')]) {
      expect(code(await put(id, { role: 'admin' }))).toBe('member_not_found');
      expect(code(await settings(admin, 'DELETE', `team/${id}`))).toBe('member_not_found');
    }
  });

  it('is judged by who is an admin now, not by what an identity said a moment ago', async () => {
    const email = 'former-admin@example.com';
    const person = await server.person(project, email, 'admin');
    const { actor } = await server.signIn(email);
    await settings(admin, 'PUT', `team/${person}`, { role: 'reviewer' });
    const late = await settings(actor, 'PUT', `team/${reviewer.person_id}`, { role: 'admin' });
    expect([late.status, code(late)]).toEqual([403, 'forbidden']);
  });

  it('is looked up by other services', async () => {
    const people = async (query: Record<string, string>) =>
      (await server.ask(null, 'GET', `/internal/people?${new URLSearchParams(query)}`)).body.people;
    const found = { person_id: reviewer.person_id, email: 'reviewer@example.com', name: 'reviewer', role: 'reviewer' };
    expect(await people({ project_id: project, ref: 'Reviewer@example.com' })).toEqual([found]);
    expect(await people({ project_id: project, ref: reviewer.person_id })).toEqual([found]);
    const all = await people({ project_id: project });
    expect(all).toContainEqual(found);
    expect(all.map((person: { email: string }) => person.email)).not.toContain('guest@example.com');
    for (const ref of ['guest@example.com', 'nobody@example.com', newId('per'), 'role:admin']) {
      expect(await people({ project_id: project, ref })).toEqual([]);
    }
    expect(await people({ project_id: stranger.project_id, ref: reviewer.person_id })).toEqual([]);
    expect(await people({ project_id: newId('prj') })).toEqual([]);
    expect(await people({ project_id: 'nonsense' })).toEqual([]);
  });
});
