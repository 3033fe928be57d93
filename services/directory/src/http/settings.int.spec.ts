import { OPERATIONS, type PersonActor } from '@countersign/contracts';
import { newId } from '@countersign/event-store';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { authenticate } from '../authentication/authenticate.js';
import { breaches, type Cast, castOf, code, type Server, startServer } from '../testing/server.js';

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

describe('every route for admins', () => {
  const routes = OPERATIONS.filter((operation) => operation.service === 'directory' && operation.access === 'admin');
  it.each(routes.map((route) => [route.method, route.path, route] as const))(
    '%s %s refuses a reviewer and a key',
    async (method, path, route) => {
      const url = path.replace('{id}', newId('key'));
      const bodies: Record<string, object | undefined> = {
        'POST /api/v1/settings/api-keys': { name: 'x', scopes: ['reviews:read'] },
        'POST /api/v1/settings/team/invite': { email: 'x@example.com' },
      };
      const body = route.body && (bodies[`${method} ${path}`] ?? {});
      const ask = (actor: Parameters<Server['ask']>[0]) => server.ask(actor, method as 'GET', url, body);
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
    },
  );
});

describe('the project', () => {
  it('is read by everybody in it and changed by admins', async () => {
    const read = await settings(reviewer, 'GET', 'project');
    expect(breaches('getProject', read)).toEqual([]);
    expect(read.body).toMatchObject({ id: project, name: 'Mail', description: null });
    const changed = await settings(admin, 'PUT', 'project', { name: 'Post', description: 'letters' });
    expect(breaches('updateProject', changed)).toEqual([]);
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
    expect(breaches('createApiKey', made)).toEqual([]);
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
    const listed = await settings(admin, 'GET', 'api-keys');
    expect(breaches('listApiKeys', listed)).toEqual([]);
    expect(JSON.stringify(listed.body)).not.toContain(made.body.raw_key.slice(12));
    expect((await settings(stranger, 'GET', 'api-keys')).body.total).toBe(0);
  });

  it.each<[string, object, string | null]>([
    ['nobody', { owner: null }, null],
    ['somebody else', { owner: 'reviewer@example.com' }, 'reviewer'],
  ])('of %s count who was shown them as asking: their maker, and who rotates them (decision 30)', async (_, named, owner) => {
    const made = (await create(named)).body;
    const asking = async (credential: string) => (await authenticate(server.deps, { via: 'bearer', credential, ip: '' })).actor;
    const expected = { owner: owner && reviewer.person_id, former_owners: [admin.person_id] };
    expect(await asking(made.raw_key)).toMatchObject(expected);
    const email = `${owner}-rotates@example.com`;
    await server.person(project, email, 'admin');
    const other = (await server.signIn(email)).actor;
    const rotated = (await settings(other, 'POST', `api-keys/${made.id}/rotate`)).body;
    expect(await asking(rotated.raw_key)).toMatchObject({ ...expected, former_owners: [admin.person_id, other.person_id] });
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
    [{ expires_at: '2020-01-01T00:00:00Z' }, 'invalid_expiry', 'expires_at'],
    [{ rate_limit_per_hour: 0 }, 'validation_failed', 'body.rate_limit_per_hour'],
    [{ rate_limit: 5 }, 'validation_failed', 'body.rate_limit'],
  ])('refuse %j', async (body, expected, param) => {
    const before = (await settings(admin, 'GET', 'api-keys')).body.total;
    const answer = await create(body);
    expect([answer.status, code(answer), answer.body.error.param]).toEqual([400, expected, param]);
    expect((await settings(admin, 'GET', 'api-keys')).body.total).toBe(before);
  });

  it('tell the key itself what it may do', async () => {
    const made = await create({ expires_at: '2099-01-01T00:00:00+01:00', rate_limit_per_hour: 5 });
    const { actor } = await authenticate(server.deps, { via: 'bearer', credential: made.body.raw_key, ip: '' });
    const info = await server.ask(actor ?? null, 'GET', '/api/v1/auth/key-info');
    expect(breaches('getKeyInfo', info)).toEqual([]);
    expect(info.body).toMatchObject({
      object: 'key_info',
      scopes: input.scopes,
      expires_at: '2098-12-31T23:00:00.000Z',
      rate_limit_per_hour: 5,
    });
  });

  it('are changed, disabled, rotated and deleted', async () => {
    const { id, raw_key } = (await create()).body;
    const good = async (key: string) => (await authenticate(server.deps, { via: 'bearer', credential: key, ip: '' })).refusal === undefined;
    const changed = await settings(admin, 'PUT', `api-keys/${id}`, { name: 'renamed', is_active: false });
    expect(breaches('updateApiKey', changed)).toEqual([]);
    expect(changed.body).toMatchObject({ name: 'renamed', is_active: false, scopes: input.scopes });
    expect(await good(raw_key)).toBe(false);
    expect(code(await settings(admin, 'POST', `api-keys/${id}/rotate`))).toBe('api_key_inactive');
    await settings(admin, 'PUT', `api-keys/${id}`, { is_active: true });
    const rotated = await settings(admin, 'POST', `api-keys/${id}/rotate`);
    expect(breaches('rotateApiKey', rotated)).toEqual([]);
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
  const inForce = async () => (await server.ask(null, 'GET', `/internal/projects/${project}/webhook-secrets`)).body;

  it('is shown by its prefix, revealed on the record, and sealed in the table', async () => {
    const info = await settings(admin, 'GET', 'hmac-secret');
    expect(breaches('getHmacSecret', info)).toEqual([]);
    const revealed = await settings(admin, 'POST', 'hmac-secret/reveal');
    expect(breaches('revealHmacSecret', revealed)).toEqual([]);
    expect(revealed.body.hmac_secret.slice(0, 8)).toBe(info.body.prefix);
    expect(Buffer.from(revealed.body.standard_secret.slice(6), 'base64').toString('hex')).toBe(revealed.body.hmac_secret);
    expect(await inForce()).toMatchObject({ active: { secret: revealed.body.hmac_secret }, pending: null });
    const { rows } = await server.db.ownerPool.query(
      `select (select string_agg(body || meta, ' ') from event_store.events) as log,
              (select string_agg(encode(sealed, 'escape'), ' ') from directory.project_secrets) as sealed`,
    );
    for (const text of [rows[0].log, rows[0].sealed]) expect(text).not.toContain(revealed.body.hmac_secret);
    const { events } = await server.deps.store.readStream(project);
    expect(events.at(-1)).toMatchObject({ type: 'secret.revealed', meta: { actor: { kind: 'person', id: admin.person_id } } });
  });

  it('overlaps with its successor until that is promoted', async () => {
    const old = (await inForce()).active.secret;
    const rotated = await settings(admin, 'POST', 'hmac-secret/rotate');
    expect(breaches('rotateHmacSecret', rotated)).toEqual([]);
    expect(await inForce()).toMatchObject({ active: { secret: old }, pending: { secret: rotated.body.pending_secret, promote_at: null } });
    expect(code(await settings(admin, 'POST', 'hmac-secret/rotate'))).toBe('rotation_pending');
    const promoted = await settings(admin, 'POST', 'hmac-secret/promote');
    expect(breaches('promoteHmacSecret', promoted)).toEqual([]);
    expect(await inForce()).toMatchObject({ active: { secret: rotated.body.pending_secret }, pending: null });
    expect((await settings(admin, 'POST', 'hmac-secret/promote')).status).toBe(200);
  });

  it('changes over by itself at the time the operator named', async () => {
    const old = (await inForce()).active.secret;
    const { now } = await server.deps.store.head();
    const promote_at = new Date(Date.parse(now) + 3_600_000).toISOString();
    expect(code(await settings(admin, 'POST', 'hmac-secret/rotate', { promote_at: now }))).toBe('validation_failed');
    const rotated = await settings(admin, 'POST', 'hmac-secret/rotate', { promote_at });
    expect(rotated.body.promote_at).toBe(promote_at);
    expect((await inForce()).active.secret).toBe(old);
    await server.db.advanceClock(3600);
    expect(await inForce()).toMatchObject({ active: { secret: rotated.body.pending_secret }, pending: null });
    expect(code(await settings(stranger, 'POST', 'hmac-secret/promote'))).toBe('no_pending_secret');
  });

  it('of a project that is not there is not found', async () => {
    for (const id of [newId('prj'), 'nonsense']) {
      expect((await server.ask(null, 'GET', `/internal/projects/${id}/webhook-secrets`)).status).toBe(404);
    }
  });
});
