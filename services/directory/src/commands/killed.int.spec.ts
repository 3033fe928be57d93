/**
 * A process killed in the middle of a command, at each of the two places where that matters: before its append (the credential row is
 * there, the event is not) and after it (the event is there, the look-up rows are not). Nothing is lost, nothing is there twice, and
 * nobody who was shut out comes in.
 */

import type { AppendResult, EventStore } from '@countersign/event-store';
import { newId, uuidOf } from '@countersign/event-store';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { authenticate } from '../authentication/authenticate.js';
import { newRawKey } from '../credentials/tokens.js';
import { newWebhookSecret } from '../credentials/webhook-secret.js';
import type { DirectoryDeps } from '../deps.js';
import { sweep } from '../housekeeping.js';
import { catchUpAll, rebuildLookups } from '../lookups/catch-up.js';
import { keysOf } from '../lookups/keys.js';
import { findPersonByEmail, peopleOf } from '../lookups/people.js';
import { findProjectBySlug } from '../lookups/projects.js';
import { OPERATOR } from '../provisioning.js';
import { signIn } from '../sign-in/sign-in.js';
import { must, PASSWORD, type Server, startServer } from '../testing/server.js';
import { changeApiKey, createApiKey, deleteApiKey, rotateApiKey } from './keys.js';
import { createPerson, resetPassword } from './people.js';
import { createProject, promoteWebhookSecret, rotateWebhookSecret, webhookSecrets } from './projects.js';
import { acceptInvitation, changeMember, endMember, inviteMember } from './team.js';

let server: Server;
let deps: DirectoryDeps;
let project: string;
beforeAll(async () => {
  server = await startServer();
  ({ deps } = server);
  project = await server.project('Mail');
  await server.person(project, 'ann@example.com', 'admin');
});
afterAll(() => server.close());

const client = { ip: '203.0.113.1', userAgent: null, deviceToken: null, keepsCookies: false };

/** Runs a command in a process that stands still for ever before or after its append. Resolves when it has come that far. */
function killed(when: 'before append' | 'after append', command: (dying: DirectoryDeps) => Promise<unknown>): Promise<AppendResult | null> {
  return new Promise((resolve, reject) => {
    const store: EventStore = Object.create(deps.store, {
      append: {
        value: async (request: Parameters<EventStore['append']>[0]) => {
          resolve(when === 'after append' ? await deps.store.append(request) : null);
          return new Promise<never>(() => {});
        },
      },
    });
    command({ ...deps, store }).then(() => reject(new Error('The command came to its end: it never appended.')), reject);
  });
}

const refusalOf = async (credential: string) => (await authenticate(deps, { via: 'bearer', credential, ip: '203.0.113.1' })).refusal?.code;
const makeKey = async () => must(await createApiKey(deps, project, { name: 'mailer', scopes: ['reviews:create'] }, OPERATOR));

describe('killed after the append', () => {
  it('a key that was deleted, disabled or rotated lets nobody in', async () => {
    const [deleted, disabled, rotated] = [await makeKey(), await makeKey(), await makeKey()];
    await killed('after append', (dying) => deleteApiKey(dying, { id: deleted.id, project }, OPERATOR));
    await killed('after append', (dying) => changeApiKey(dying, { id: disabled.id, project }, { is_active: false }, OPERATOR));
    await killed('after append', (dying) => rotateApiKey(dying, { id: rotated.id, project }, OPERATOR));
    for (const key of [deleted, disabled, rotated]) expect(await refusalOf(key.rawKey)).toBe('invalid_api_key');
  });

  it('a key that was created is listed, and the command repeated finds it', async () => {
    const [id, rawKey] = [newId('key'), newRawKey()];
    const command = { id, rawKey, name: 'repeated', scopes: ['reviews:create'] as const };
    const create = (by: DirectoryDeps) => createApiKey(by, project, { ...command, scopes: [...command.scopes] }, OPERATOR);
    await killed('after append', create);
    expect((await keysOf(deps, project)).map((key) => key.id)).toContain(id);
    expect(await refusalOf(rawKey)).toBeUndefined();
    expect(must(await create(deps))).toMatchObject({ id, rawKey });
    expect((await keysOf(deps, project)).filter((key) => key.id === id)).toHaveLength(1);
  });

  it('a person who was taken out or whose password was reset is out', async () => {
    for (const [email, command] of [
      ['out@example.com', (dying: DirectoryDeps, person: string) => endMember(dying, { project, person, by: null }, OPERATOR)],
      ['reset@example.com', (dying: DirectoryDeps, person: string) => resetPassword(dying, person, 'another long secret', OPERATOR)],
    ] as const) {
      const person = await server.person(project, email, 'reviewer');
      const { token } = await server.signIn(email);
      await killed('after append', (dying) => command(dying, person));
      expect(await refusalOf(token)).toBe('invalid_token');
      expect(await signIn(deps, { email, password: PASSWORD, client })).toMatchObject({ refusal: { code: 'invalid_credentials' } });
    }
    expect(must(await signIn(deps, { email: 'reset@example.com', password: 'another long secret', client })).person.email).toBe(
      'reset@example.com',
    );
  });

  it('a person who was made reviewer is no admin any more', async () => {
    const person = await server.person(project, 'demoted@example.com', 'admin');
    const { token } = await server.signIn('demoted@example.com');
    await killed('after append', (dying) => changeMember(dying, { project, person, by: null }, { role: 'reviewer' }, OPERATOR));
    const { actor } = await authenticate(deps, { via: 'bearer', credential: token, ip: '' });
    expect(actor).toMatchObject({ roles: { [project]: 'reviewer' } });
  });

  it('a person who was created is there once, and the command repeated finds them', async () => {
    const command = { id: newId('per'), email: 'new@example.com', name: 'New', password: PASSWORD, project, role: 'reviewer' } as const;
    await killed('after append', (dying) => createPerson(dying, command, OPERATOR));
    expect((await findPersonByEmail(deps, command.email))?.id).toBe(command.id);
    expect(must(await createPerson(deps, command, OPERATOR)).id).toBe(command.id);
    expect((await peopleOf(deps, project)).filter((person) => person.email === command.email)).toHaveLength(1);
    expect(must(await signIn(deps, { email: command.email, password: PASSWORD, client })).person.id).toBe(command.id);
  });

  it('a project that was created is found, with its secret', async () => {
    const command = { id: newId('prj'), name: 'Late', slug: 'late', webhookSecret: newWebhookSecret() };
    await killed('after append', (dying) => createProject(dying, command, OPERATOR));
    expect((await findProjectBySlug(deps, 'late'))?.id).toBe(command.id);
    expect(must(await createProject(deps, command, OPERATOR)).id).toBe(command.id);
    expect((await webhookSecrets(deps, command.id))?.active.secret).toBe(command.webhookSecret);
  });

  it('a rotated secret can be revealed, and a promoted one is the active one', async () => {
    const own = await server.project('Rotating');
    const before = await webhookSecrets(deps, own);
    await killed('after append', (dying) => rotateWebhookSecret(dying, own, null, OPERATOR));
    const between = await webhookSecrets(deps, own);
    expect(between).toMatchObject({ active: before?.active, pending: { promoteAt: null } });
    await killed('after append', (dying) => promoteWebhookSecret(dying, own, OPERATOR));
    expect(await webhookSecrets(deps, own)).toMatchObject({ active: { secret: between?.pending?.secret }, pending: null });
  });

  it('an invitation that was accepted is used, and the person signs in', async () => {
    const email = 'invited@example.com';
    const { token } = must(await inviteMember(deps, { project, by: null, email, role: 'reviewer' }, OPERATOR));
    const accept = (by: DirectoryDeps, with_: string) =>
      acceptInvitation(by, { token, name: 'Invited', password: with_, client }, () => OPERATOR);
    await killed('after append', (dying) => accept(dying, PASSWORD));
    expect(await accept(deps, 'another long secret')).toMatchObject({ refusal: { code: 'invite_used' } });
    expect(must(await signIn(deps, { email, password: PASSWORD, client })).memberships.map((m) => m.project)).toEqual([project]);
  });
});

describe('killed before the append', () => {
  it('nothing has happened, and the command repeated does it', async () => {
    const key = await makeKey();
    await killed('before append', (dying) => rotateApiKey(dying, { id: key.id, project }, OPERATOR));
    expect(await refusalOf(key.rawKey)).toBeUndefined();

    const [id, rawKey] = [newId('key'), newRawKey()];
    const create = (by: DirectoryDeps) => createApiKey(by, project, { id, rawKey, name: 'later', scopes: ['reviews:create'] }, OPERATOR);
    await killed('before append', create);
    expect(await refusalOf(rawKey)).toBe('invalid_api_key');
    expect((await keysOf(deps, project)).map((listed) => listed.id)).not.toContain(id);
    must(await create(deps));
    expect(await refusalOf(rawKey)).toBeUndefined();

    const person = await server.person(project, 'keeps@example.com', 'reviewer');
    const { token } = await server.signIn('keeps@example.com');
    await killed('before append', (dying) => resetPassword(dying, person, 'another long secret', OPERATOR));
    expect(await refusalOf(token)).toBeUndefined();
    expect((await server.signIn('keeps@example.com')).actor.person_id).toBe(person);

    const secrets = await webhookSecrets(deps, project);
    await killed('before append', (dying) => rotateWebhookSecret(dying, project, null, OPERATOR));
    expect(await webhookSecrets(deps, project)).toEqual(secrets);
  });
});

describe('look-ups', () => {
  const LOOKUPS = ['projects', 'memberships', 'persons', 'api_keys', 'gone'];
  const dump = async () => {
    const each = LOOKUPS.map((table) => `select '${table}' as name, to_jsonb(t) as row from directory.${table} t`);
    return (await server.db.ownerPool.query(`${each.join(' union all ')} order by 1, 2`)).rows;
  };

  it('of killed commands are caught up when a directory starts', async () => {
    const person = await server.person(project, 'behind@example.com', 'reviewer');
    await catchUpAll(deps);
    await killed('after append', (dying) => endMember(dying, { project, person, by: null }, OPERATOR));
    expect(await catchUpAll(deps)).toBe(1);
    expect(await catchUpAll(deps)).toBe(0);
  });

  it('dropped all, come back equal from the log alone; rebuilt live, they stay equal', async () => {
    const before = await dump();
    await rebuildLookups(deps);
    expect(await dump()).toEqual(before);
    await server.db.ownerPool.query(
      'truncate directory.projects, directory.memberships, directory.persons, directory.api_keys, directory.gone',
    );
    await catchUpAll(deps);
    expect(await dump()).toEqual(before);
  });

  it('forget a person whose stream was redacted, at the next question', async () => {
    const [email, name] = ['forget-me@example.com', 'Forget Me'];
    const person = must(await createPerson(deps, { email, name, password: PASSWORD, project, role: 'reviewer' }, OPERATOR)).id;
    const { token } = await server.signIn(email);
    await server.db.ownerPool.query('select event_store.redact_stream($1, $2)', [uuidOf(person), 'asked to be forgotten']);
    expect(await refusalOf(token)).toBe('invalid_token');
    expect(await signIn(deps, { email, password: PASSWORD, client })).toMatchObject({ refusal: { code: 'invalid_credentials' } });
    const left = await Promise.all(
      ['persons', 'passwords', 'sessions', 'known_devices', 'person_sign_ins'].map(async (table) => {
        const column = table === 'persons' ? 'id' : 'person';
        return (await server.db.pool.query(`select 1 from directory.${table} where ${column} = $1`, [uuidOf(person)])).rows.length;
      }),
    );
    expect(left).toEqual([0, 0, 0, 0, 0]);
    expect((await peopleOf(deps, project)).map((found) => found.id)).not.toContain(person);
  });

  it('and what killed commands left unnamed goes after a day, and nothing else', async () => {
    const rows = async () => {
      const count = (table: string) => `(select count(*)::int from directory.${table}) as ${table}`;
      return (await server.db.pool.query(`select ${['passwords', 'key_credentials', 'project_secrets'].map(count).join(', ')}`)).rows[0];
    };
    const before = await rows();
    const idle = (await makeKey()).rawKey;
    await killed('before append', (dying) => createApiKey(dying, project, { name: 'never', scopes: ['reviews:create'] }, OPERATOR));
    await killed('before append', (dying) => rotateWebhookSecret(dying, project, null, OPERATOR));
    await sweep(deps);
    expect(await rows()).toEqual({
      ...before,
      key_credentials: before.key_credentials + 2,
      project_secrets: before.project_secrets + 1,
    });
    await server.db.advanceClock(25 * 3600);
    await sweep(deps);
    const named = (
      await server.db.pool.query(`select
      (select count(*)::int from directory.persons where password_fingerprint is not null) as passwords,
      (select count(*)::int from directory.api_keys) as key_credentials,
      (select count(*)::int from directory.projects) as project_secrets`)
    ).rows[0];
    expect(await rows()).toEqual(named);
    expect(await refusalOf(idle)).toBeUndefined();
    expect((await webhookSecrets(deps, project))?.active.secret).toMatch(/^[0-9a-f]{64}$/);
  });
});
