import { OPERATIONS, operationOf, type PersonActor, validator } from '@countersign/contracts';
import { newId } from '@countersign/event-store';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { authenticate } from '../authentication/authenticate.js';
import { type Answer, actorOf, PASSWORD, type Station, startStation } from '../testing/station.js';

jest.setTimeout(60_000);

let station: Station;
let project: string;
let admin: PersonActor;
let reviewer: PersonActor;
let stranger: PersonActor;
beforeAll(async () => {
  station = await startStation();
  project = await station.project('Mail');
  await station.person(project, 'admin@example.com', 'admin');
  await station.person(project, 'reviewer@example.com', 'reviewer');
  await station.person(await station.project('Other'), 'stranger@example.com', 'admin');
  admin = (await station.signIn('admin@example.com')).actor;
  reviewer = (await station.signIn('reviewer@example.com')).actor;
  stranger = (await station.signIn('stranger@example.com')).actor;
});
afterAll(() => station.close());

const code = (answer: Answer) => answer.body?.error?.code;
const settings = (actor: PersonActor, method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: unknown) =>
  station.ask(actor, method, `/api/v1/settings/${path}`, body);

function conforms(id: Parameters<typeof operationOf>[0], answer: Answer): void {
  const schema = (operationOf(id).responses as Record<number, unknown>)[answer.status];
  expect(validator(schema as never, 'exact')(answer.body)).toMatchObject({ ok: true });
}

describe('every route for admins', () => {
  const routes = OPERATIONS.filter((operation) => operation.service === 'directory' && operation.access === 'admin');
  it.each(routes.map((route) => [route.method, route.path]))('%s %s refuses a reviewer and a key', async (method, path) => {
    const url = path.replace('{id}', newId('key'));
    const bodies: Record<string, object> = {
      'POST /api/v1/settings/api-keys': { name: 'x', scopes: ['reviews:read'] },
      'POST /api/v1/settings/team/invite': { email: 'x@example.com' },
    };
    const ask = (actor: Parameters<Station['ask']>[0]) => station.ask(actor, method as 'GET', url, bodies[`${method} ${path}`]);
    expect([(await ask(reviewer)).status, code(await ask(reviewer))]).toEqual([403, 'forbidden']);
    // An admin elsewhere, working in a project where they are none.
    expect((await ask({ ...stranger, project_id: project })).status).toBe(403);
    const agent = {
      kind: 'agent',
      key_id: newId('key'),
      key_prefix: 'gwk_00000000',
      name: 'k',
      project_id: project,
      scopes: [],
      template_ids: null,
      owner: null,
      contact: null,
      default_reviewer: null,
      rate_limit_per_hour: null,
    } as const;
    expect((await ask({ ...agent, scopes: [] })).status).toBe(401);
  });
});

describe('the project', () => {
  it('is read by everybody in it and changed by admins', async () => {
    const read = await settings(reviewer, 'GET', 'project');
    conforms('getProject', read);
    expect(read.body).toMatchObject({ id: project, name: 'Mail', description: null });
    const changed = await settings(admin, 'PUT', 'project', { name: 'Post', description: 'letters' });
    conforms('updateProject', changed);
    expect(changed.headers['countersign-seen']).toMatch(/^\d+\.\d+$/);
    expect((await settings(reviewer, 'GET', 'project')).body).toMatchObject({ name: 'Post', description: 'letters' });
  });
});

describe('API keys', () => {
  const input = { name: 'mailer', scopes: ['reviews:create', 'reviews:read'] };
  const create = (body: object = {}) => settings(admin, 'POST', 'api-keys', { ...input, ...body });

  it('are made with their raw form shown once; the maker answers for them unless somebody else is named', async () => {
    const made = await create();
    expect(made.status).toBe(201);
    conforms('createApiKey', made);
    expect(made.body.raw_key).toMatch(/^gwk_[0-9a-f]{64}$/);
    expect(made.body).toMatchObject({
      owner: admin.person_id,
      contact: null,
      is_active: true,
      last_used_at: null,
      prefix: made.body.raw_key.slice(0, 12),
    });
    expect((await create({ owner: 'reviewer@example.com', contact: admin.person_id })).body).toMatchObject({
      owner: reviewer.person_id,
      contact: admin.person_id,
    });
    expect((await create({ owner: null })).body.owner).toBeNull();
    const listed = await settings(admin, 'GET', 'api-keys');
    conforms('listApiKeys', listed);
    expect(JSON.stringify(listed.body)).not.toContain(made.body.raw_key.slice(12));
    expect((await settings(stranger, 'GET', 'api-keys')).body.total).toBe(0);
  });

  it.each([
    [{ scopes: ['everything'] }, 'validation_failed', 'body.scopes.0'],
    [{ scopes: [] }, 'validation_failed', 'body.scopes'],
    [{ ip_allowlist: ['10.0.0.0/33'] }, 'invalid_ip_allowlist', 'ip_allowlist'],
    [{ template_ids: ['welcome-mail'] }, 'invalid_template_id', 'template_ids'],
    [{ owner: 'stranger@example.com' }, 'invalid_person', 'owner'],
    [{ owner: 'nobody@example.com' }, 'invalid_person', 'owner'],
    [{ default_reviewer: newId('per') }, 'invalid_person', 'default_reviewer'],
    [{ expires_at: 'tomorrow' }, 'validation_failed', 'body.expires_at'],
    [{ expires_at: '2027-02-30T00:00:00Z' }, 'validation_failed', 'body.expires_at'],
    [{ rate_limit_per_hour: 0 }, 'validation_failed', 'body.rate_limit_per_hour'],
  ])('refuse %j', async (body, expected, param) => {
    const before = (await settings(admin, 'GET', 'api-keys')).body.total;
    const answer = await create(body);
    expect([answer.status, code(answer), answer.body.error.param]).toEqual([400, expected, param]);
    expect((await settings(admin, 'GET', 'api-keys')).body.total).toBe(before);
  });

  it('tell the key itself what it may do', async () => {
    const made = await create({ expires_at: '2099-01-01T00:00:00+01:00', rate_limit_per_hour: 5 });
    const { actor } = await authenticate(station.deps, { via: 'bearer', credential: made.body.raw_key, ip: '' });
    const info = await station.ask(actor ?? null, 'GET', '/api/v1/auth/key-info');
    conforms('getKeyInfo', info);
    expect(info.body).toMatchObject({
      object: 'key_info',
      scopes: input.scopes,
      expires_at: '2098-12-31T23:00:00.000Z',
      rate_limit_per_hour: 5,
    });
  });

  it('are changed, disabled, rotated and deleted', async () => {
    const { id, raw_key } = (await create()).body;
    const good = async (key: string) =>
      (await authenticate(station.deps, { via: 'bearer', credential: key, ip: '' })).refusal === undefined;
    const changed = await settings(admin, 'PUT', `api-keys/${id}`, { name: 'renamed', is_active: false });
    conforms('updateApiKey', changed);
    expect(changed.body).toMatchObject({ name: 'renamed', is_active: false, scopes: input.scopes });
    expect(await good(raw_key)).toBe(false);
    expect(code(await settings(admin, 'POST', `api-keys/${id}/rotate`))).toBe('api_key_inactive');
    await settings(admin, 'PUT', `api-keys/${id}`, { is_active: true });
    const rotated = await settings(admin, 'POST', `api-keys/${id}/rotate`);
    conforms('rotateApiKey', rotated);
    expect([await good(raw_key), await good(rotated.body.raw_key)]).toEqual([false, true]);
    expect((await settings(admin, 'DELETE', `api-keys/${id}`)).status).toBe(204);
    expect((await settings(admin, 'DELETE', `api-keys/${id}`)).status).toBe(204);
    expect(await good(rotated.body.raw_key)).toBe(false);
    expect(code(await settings(admin, 'PUT', `api-keys/${id}`, { name: 'x' }))).toBe('api_key_not_found');
    expect((await settings(admin, 'GET', 'api-keys')).body.items.map((key: { id: string }) => key.id)).not.toContain(id);
  });

  it('of another project, or of no possible one, do not exist', async () => {
    const { id } = (await create()).body;
    for (const key of [id, 'key_nonsense', newId('rev'), newId('key')]) {
      expect(code(await settings(stranger, 'PUT', `api-keys/${key}`, { name: 'x' }))).toBe('api_key_not_found');
      expect(code(await settings(stranger, 'POST', `api-keys/${key}/rotate`))).toBe('api_key_not_found');
      expect(code(await settings(stranger, 'DELETE', `api-keys/${key}`))).toBe('api_key_not_found');
    }
  });
});

describe('the webhook secret', () => {
  const inForce = async () => (await station.ask(null, 'GET', `/internal/projects/${project}/webhook-secrets`)).body;

  it('is shown by its prefix, revealed on the record, and sealed in the table', async () => {
    const info = await settings(admin, 'GET', 'hmac-secret');
    conforms('getHmacSecret', info);
    const revealed = await settings(admin, 'POST', 'hmac-secret/reveal');
    conforms('revealHmacSecret', revealed);
    expect(revealed.body.hmac_secret.slice(0, 8)).toBe(info.body.prefix);
    expect(Buffer.from(revealed.body.standard_secret.slice(6), 'base64').toString('hex')).toBe(revealed.body.hmac_secret);
    expect(await inForce()).toMatchObject({ active: { secret: revealed.body.hmac_secret }, pending: null });
    const { rows } = await station.db.ownerPool.query(
      `select (select string_agg(body || meta, ' ') from event_store.events) as log,
              (select string_agg(encode(sealed, 'escape'), ' ') from directory.project_secrets) as sealed`,
    );
    for (const text of [rows[0].log, rows[0].sealed]) expect(text).not.toContain(revealed.body.hmac_secret);
    const { events } = await station.deps.store.readStream(project);
    expect(events.at(-1)).toMatchObject({ type: 'secret.revealed', meta: { actor: { kind: 'person', id: admin.person_id } } });
  });

  it('overlaps with its successor until that is promoted', async () => {
    const old = (await inForce()).active.secret;
    const rotated = await settings(admin, 'POST', 'hmac-secret/rotate');
    conforms('rotateHmacSecret', rotated);
    expect(await inForce()).toMatchObject({ active: { secret: old }, pending: { secret: rotated.body.pending_secret, promote_at: null } });
    expect(code(await settings(admin, 'POST', 'hmac-secret/rotate'))).toBe('rotation_pending');
    const promoted = await settings(admin, 'POST', 'hmac-secret/promote');
    conforms('promoteHmacSecret', promoted);
    expect(await inForce()).toMatchObject({ active: { secret: rotated.body.pending_secret }, pending: null });
    expect((await settings(admin, 'POST', 'hmac-secret/promote')).status).toBe(200);
  });

  it('changes over by itself at the time the operator named', async () => {
    const old = (await inForce()).active.secret;
    const { now } = await station.deps.store.head();
    const promote_at = new Date(Date.parse(now) + 3_600_000).toISOString();
    expect(code(await settings(admin, 'POST', 'hmac-secret/rotate', { promote_at: now }))).toBe('validation_failed');
    const rotated = await settings(admin, 'POST', 'hmac-secret/rotate', { promote_at });
    expect(rotated.body.promote_at).toBe(promote_at);
    expect((await inForce()).active.secret).toBe(old);
    await station.db.advanceClock(3600);
    expect(await inForce()).toMatchObject({ active: { secret: rotated.body.pending_secret }, pending: null });
    expect(code(await settings(stranger, 'POST', 'hmac-secret/promote'))).toBe('no_pending_secret');
  });

  it('of a project that is not there is not found', async () => {
    for (const id of [newId('prj'), 'nonsense']) {
      expect((await station.ask(null, 'GET', `/internal/projects/${id}/webhook-secrets`)).status).toBe(404);
    }
  });
});

describe('the team', () => {
  const invite = (email: string, role?: string) => settings(admin, 'POST', 'team/invite', { email, ...(role ? { role } : {}) });
  const tokenOf = (invited: Answer) => new URL(invited.body.invite_url).hash.slice(1);
  const accept = (token: string, body: object = {}) =>
    station.ask(
      null,
      'POST',
      `/api/v1/auth/invite/${token}`,
      { name: 'Guest', password: PASSWORD, ...body },
      { 'countersign-client-ip': '192.0.2.1' },
    );

  it('lists its people for everybody in it', async () => {
    const team = await settings(reviewer, 'GET', 'team');
    conforms('listMembers', team);
    expect(team.body.items).toMatchObject([
      { id: admin.person_id, email: 'admin@example.com', role: 'admin', is_active: true },
      { id: reviewer.person_id, role: 'reviewer', is_active: true },
    ]);
    expect(team.body.items[0].last_sign_in_at).not.toBeNull();
  });

  it('takes in whoever accepts an invitation, once', async () => {
    const invited = await invite('Guest@Example.com');
    expect(invited.status).toBe(201);
    conforms('inviteMember', invited);
    expect(invited.body).toMatchObject({ email: 'guest@example.com', role: 'reviewer' });
    expect(invited.body.invite_url).toMatch(/^https:\/\/gate\.example\.com\/invite#csi_/);
    const token = tokenOf(invited);
    const offer = await station.ask(null, 'GET', `/api/v1/auth/invite/${token}`);
    conforms('getInvite', offer);
    expect(offer.body).toMatchObject({ email: 'guest@example.com', role: 'reviewer', project: { id: project, name: 'Post' } });
    expect(code(await accept(token, { password: 'short' }))).toBe('too_short');
    const accepted = await accept(token);
    expect(accepted.status).toBe(201);
    conforms('acceptInvite', accepted);
    expect((await actorOf(station, accepted.body.token)).roles).toEqual({ [project]: 'reviewer' });
    const again = await accept(token);
    expect([again.status, code(again)]).toEqual([410, 'invite_used']);
    expect(code(await station.ask(null, 'GET', `/api/v1/auth/invite/${token}`))).toBe('invite_used');
    const duplicate = await invite('guest@example.com');
    expect([duplicate.status, code(duplicate)]).toEqual([409, 'duplicate_email']);
    const log = JSON.stringify((await station.deps.store.readStream(project)).events);
    expect(log).not.toContain('guest@example.com');
    expect(log).not.toContain(token);
  });

  it('lets the newest invitation of an address count, for 7 days', async () => {
    const [first, second] = [tokenOf(await invite('late@example.com')), tokenOf(await invite('late@example.com', 'admin'))];
    expect([(await accept(first)).status, code(await accept(first))]).toEqual([404, 'invite_invalid']);
    expect(code(await accept('csi_made-up'))).toBe('invite_invalid');
    await station.db.advanceClock(7 * 24 * 3600);
    expect([(await accept(second)).status, code(await accept(second))]).toEqual([410, 'invite_expired']);
  });

  it('takes in somebody who is in the directory already by their own password only', async () => {
    const token = tokenOf(await invite('stranger@example.com'));
    const wrong = await accept(token, { password: 'not the password at all' });
    expect([wrong.status, code(wrong)]).toEqual([409, 'email_taken']);
    const accepted = await accept(token);
    expect(accepted.status).toBe(201);
    const actor = await actorOf(station, accepted.body.token);
    expect(actor).toMatchObject({ person_id: stranger.person_id, name: 'stranger' });
    expect(actor.roles[project]).toBe('reviewer');
  });

  it('changes roles, lets people go and takes them back', async () => {
    const guest = (await settings(admin, 'GET', 'team')).body.items.find(
      (member: { email: string }) => member.email === 'guest@example.com',
    ).id;
    const put = (id: string, body: object, by = admin) => settings(by, 'PUT', `team/${id}`, body);
    const promoted = await put(guest, { role: 'admin' });
    conforms('updateMember', promoted);
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
    const person = await station.person(project, email, 'admin');
    const { actor } = await station.signIn(email);
    await settings(admin, 'PUT', `team/${person}`, { role: 'reviewer' });
    const late = await settings(actor, 'PUT', `team/${reviewer.person_id}`, { role: 'admin' });
    expect([late.status, code(late)]).toEqual([403, 'forbidden']);
  });

  it('is looked up by other services', async () => {
    const people = async (query: Record<string, string>) =>
      (await station.ask(null, 'GET', `/internal/people?${new URLSearchParams(query)}`)).body.people;
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
