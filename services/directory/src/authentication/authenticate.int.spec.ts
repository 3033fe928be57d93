import type { AgentActor, AuthenticateReply } from '@countersign/contracts';
import { newId, uuidOf } from '@countersign/event-store';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { changeApiKey, createApiKey, deleteApiKey, type KeyInput, lastUses, rotateApiKey } from '../commands/keys.js';
import { resetPassword } from '../commands/people.js';
import { changeMember, endMember, grantRole } from '../commands/team.js';
import { OPERATOR } from '../provisioning.js';
import { must, PASSWORD, type Server, startServer } from '../testing/server.js';
import { standingOf } from './keys.js';

let server: Server;
let project: string;
beforeAll(async () => {
  server = await startServer();
  project = await server.project('Mail');
  await server.person(project, 'ann@example.com', 'admin');
});
afterAll(() => server.close());

async function authenticate(
  credential: string,
  more: { via?: 'cookie'; ip?: string; project_id?: string } = {},
): Promise<AuthenticateReply> {
  const { via = 'bearer', ip = '203.0.113.1', project_id } = more;
  const answer = await server.ask(null, 'POST', '/internal/authenticate', { via, credential, ip, project_id });
  expect(answer.status).toBe(200);
  return answer.body;
}
const refusal = async (...given: Parameters<typeof authenticate>) => (await authenticate(...given)).refusal?.code;
const makeKey = async (input: Partial<KeyInput> = {}) =>
  must(await createApiKey(server.deps, project, { name: 'mailer', scopes: ['reviews:create'], ...input }, OPERATOR));

describe('an API key', () => {
  it('is the agent with everything an operator set on it', async () => {
    const template = newId('tpl');
    const { id, rawKey, key } = await makeKey({
      template_ids: [template],
      owner: 'ANN@example.com',
      default_reviewer: 'ann@example.com',
      rate_limit_per_hour: 7,
    });
    const { actor } = await authenticate(rawKey);
    expect(actor).toEqual({
      kind: 'agent',
      key_id: id,
      key_prefix: rawKey.slice(0, 12),
      name: 'mailer',
      project_id: project,
      scopes: ['reviews:create'],
      template_ids: [template],
      owner: key.owner,
      contact: null,
      default_reviewer: key.owner,
      rate_limit_per_hour: 7,
    });
    expect(key.owner).toMatch(/^per_/);
  });

  it('carries who owned it before, also when its row is from before they were kept', async () => {
    const { id, rawKey, key } = await makeKey({ owner: 'ann@example.com' });
    must(await changeApiKey(server.deps, { id, project }, { owner: null }, OPERATOR));
    const given = { owner: null, former_owners: [key.owner] };
    expect((await authenticate(rawKey)).actor).toMatchObject(given);
    await server.db.ownerPool.query(`update directory.api_keys set former_owners = '{}', version = 0 where id = $1`, [uuidOf(id)]);
    expect((await authenticate(rawKey)).actor).toMatchObject(given);
    must(await rotateApiKey(server.deps, { id, project }, OPERATOR));
    expect(await server.deps.pool.query('select former_owners from directory.api_keys where id = $1', [uuidOf(id)])).toMatchObject({
      rows: [{ former_owners: [uuidOf(key.owner ?? '')] }],
    });
  });

  it('is refused when it is unknown, malformed, or comes as a cookie', async () => {
    const { rawKey } = await makeKey();
    expect(await refusal(`gwk_${'0'.repeat(64)}`)).toBe('invalid_api_key');
    expect(await refusal(`${rawKey}0`)).toBe('invalid_api_key');
    expect(await refusal(rawKey.toUpperCase().replace('GWK', 'gwk'))).toBe('invalid_api_key');
    expect(await refusal(rawKey, { via: 'cookie' })).toBe('invalid_token');
  });

  it('dies at once when it is rotated, disabled and deleted', async () => {
    const { id, rawKey } = await makeKey();
    const rotated = must(await rotateApiKey(server.deps, { id, project }, OPERATOR));
    expect(await refusal(rawKey)).toBe('invalid_api_key');
    expect(await refusal(rotated.rawKey)).toBeUndefined();
    await changeApiKey(server.deps, { id, project }, { is_active: false }, OPERATOR);
    expect(await refusal(rotated.rawKey)).toBe('invalid_api_key');
    await changeApiKey(server.deps, { id, project }, { is_active: true }, OPERATOR);
    expect(await refusal(rotated.rawKey)).toBeUndefined();
    must(await deleteApiKey(server.deps, { id, project }, OPERATOR));
    expect(await refusal(rotated.rawKey)).toBe('invalid_api_key');
  });

  it('has a standing, which looking at does not make a use', async () => {
    const { now } = await server.deps.store.head();
    const { id, rawKey } = await makeKey({ expires_at: new Date(Date.parse(now) + 3_600_000).toISOString() });
    const standing = (key = rawKey) => standingOf(server.deps, key);
    expect([await standing(), await standing(`gwk_${'0'.repeat(64)}`)]).toEqual(['active', 'deleted']);
    await changeApiKey(server.deps, { id, project }, { is_active: false }, OPERATOR);
    expect(await standing()).toBe('disabled');
    await changeApiKey(server.deps, { id, project }, { is_active: true }, OPERATOR);
    const rotated = must(await rotateApiKey(server.deps, { id, project }, OPERATOR));
    expect([await standing(), await standing(rotated.rawKey)]).toEqual(['rotated', 'active']);
    await server.db.advanceClock(3_600);
    expect(await standing(rotated.rawKey)).toBe('expired');
    must(await deleteApiKey(server.deps, { id, project }, OPERATOR));
    expect(await standing(rotated.rawKey)).toBe('deleted');
    expect(await lastUses(server.deps, [id])).toEqual(new Map());
  });

  it('is used from the addresses of its list only, and from nowhere when the address is unknown', async () => {
    const { rawKey } = await makeKey({ ip_allowlist: ['10.0.0.0/8', '2001:db8::/32'] });
    expect(await refusal(rawKey, { ip: '10.9.8.7' })).toBeUndefined();
    expect(await refusal(rawKey, { ip: '2001:db8::7' })).toBeUndefined();
    for (const ip of ['11.9.8.7', '2001:db9::7', '', 'unknown']) expect(await refusal(rawKey, { ip })).toBe('ip_not_allowed');
  });

  it('notes its use to the minute, not more often', async () => {
    const { id, rawKey } = await makeKey();
    const used = async () =>
      (await server.db.pool.query('select last_used_at from directory.key_uses where key = $1', [uuidOf(id)])).rows[0]?.last_used_at;
    expect(await used()).toBeUndefined();
    await authenticate(rawKey);
    const first = await used();
    await authenticate(rawKey);
    expect(await used()).toEqual(first);
    await server.db.advanceClock(61);
    await authenticate(rawKey);
    expect((await used()).getTime()).toBeGreaterThan(first.getTime() + 60_000);
  });

  it('is stored as a hash alone, and the log knows a fingerprint only', async () => {
    const { rawKey } = await makeKey();
    const { rows } = await server.db.ownerPool.query(
      `select string_agg(t::text, ' ') as everything from (
         select e.body, e.meta from event_store.events e) t`,
    );
    expect(rows[0].everything).not.toContain(rawKey.slice(4));
    const tables = await server.db.ownerPool.query(
      `select (select string_agg(k::text, ' ') from directory.api_keys k) || (select string_agg(c::text, ' ') from directory.key_credentials c) as everything`,
    );
    expect(tables.rows[0].everything).not.toContain(rawKey.slice(12));
  });
});

describe('a session', () => {
  it('is the person with their roles, in the project they ask for', async () => {
    const other = await server.project('Other');
    const strangers = await server.project('Strangers');
    const email = 'two@example.com';
    const id = await server.person(project, email, 'reviewer');
    must(await grantRole(server.deps, { project: other, person: id, role: 'admin' }, OPERATOR));
    const { token, actor } = await server.signIn(email);
    expect(actor).toMatchObject({
      kind: 'person',
      person_id: id,
      email,
      project_id: project,
      roles: { [project]: 'reviewer', [other]: 'admin' },
      auth: { method: 'password' },
    });
    expect((await authenticate(token, { project_id: other })).actor).toMatchObject({ project_id: other });
    expect((await authenticate(token, { via: 'cookie' })).actor).toMatchObject({ person_id: id });
    for (const project_id of [strangers, newId('prj'), 'nonsense', '__proto__']) {
      expect(await refusal(token, { project_id })).toBe('forbidden');
    }
  });

  it('of an unknown token is nobody’s', async () => {
    for (const token of ['x', 'cst_unknown', 'eyJhbGciOiJIUzI1NiJ9.e30.x']) expect(await refusal(token)).toBe('invalid_token');
  });

  it('ends when the person leaves the project, at once', async () => {
    const email = 'leaver@example.com';
    const person = await server.person(project, email, 'reviewer');
    const { token } = await server.signIn(email);
    must(await endMember(server.deps, { project, person, by: null }, OPERATOR));
    expect(await refusal(token)).toBe('invalid_token');
    must(await changeMember(server.deps, { project, person, by: null }, { active: true }, OPERATOR));
    expect(await refusal(token)).toBeUndefined();
  });

  it('ends with the password it was opened under', async () => {
    const email = 'reset@example.com';
    const person = await server.person(project, email, 'reviewer');
    const { token } = await server.signIn(email);
    must(await resetPassword(server.deps, person, 'another long secret', OPERATOR));
    expect(await refusal(token)).toBe('invalid_token');
    await expect(server.signIn(email, PASSWORD)).rejects.toThrow(/invalid_credentials/);
    expect((await server.signIn(email, 'another long secret')).actor.person_id).toBe(person);
  });
});

describe('those who are still good', () => {
  it('are told for open streams, many at once', async () => {
    const good = await makeKey();
    const bad = await makeKey();
    must(await deleteApiKey(server.deps, { id: bad.id, project }, OPERATOR));
    await server.person(project, 'streamer@example.com', 'reviewer');
    const { actor } = await server.signIn('streamer@example.com');
    const answer = await server.ask(null, 'POST', '/internal/actors', {
      key_ids: [good.id, bad.id, newId('key'), 'nonsense'],
      session_ids: [actor.session_id, newId('ses'), 'nonsense'],
    });
    expect(answer.body.agents.map((agent: AgentActor) => agent.key_id)).toEqual([good.id]);
    expect(answer.body.people).toEqual([actor]);
  });
});

// The clock moves days ahead in these: last in the file.
describe('time', () => {
  it('ends a session after 24 hours without use, and after 7 days in any case', async () => {
    await server.person(project, 'clock@example.com', 'reviewer');
    const idle = (await server.signIn('clock@example.com')).token;
    const used = (await server.signIn('clock@example.com')).token;
    for (let hours = 0; hours < 7 * 24 - 12; hours += 12) {
      await server.db.advanceClock(12 * 3600);
      expect(await refusal(used)).toBeUndefined();
    }
    expect(await refusal(idle)).toBe('invalid_token');
    await server.db.advanceClock(12 * 3600);
    expect(await refusal(used)).toBe('invalid_token');
  });

  it('ends a key at the time the operator named', async () => {
    const { now } = await server.deps.store.head();
    const { rawKey } = await makeKey({ expires_at: new Date(Date.parse(now) + 3_600_000).toISOString() });
    expect(await refusal(rawKey)).toBeUndefined();
    await server.db.advanceClock(3600);
    expect(await refusal(rawKey)).toBe('key_expired');
  });
});
