import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  createApiKey,
  createPerson,
  createProject,
  findPersonByEmail,
  findProjectBySlug,
  grantRole,
  newRawKey,
  OPERATOR,
  peopleOf,
  revealWebhookSecret,
  SCOPE_PRESETS,
  webhookSecrets,
} from './index.js';
import { must, PASSWORD, type Server, startServer } from './testing/server.js';

let server: Server;
let project: string;
beforeAll(async () => {
  server = await startServer();
  project = must(await createProject(server.deps, { name: 'Mail', slug: 'mail' }, OPERATOR)).id;
});
afterAll(() => server.close());

const refusal = async (outcome: Promise<{ ok: boolean; refusal?: { code: string; param?: string } }>) => {
  const { refusal: no } = (await outcome) as { refusal?: { code: string; param?: string } };
  return no && [no.code, no.param];
};

describe('without HTTP', () => {
  it('a project is made and found by slug', async () => {
    expect(await findProjectBySlug(server.deps, 'mail')).toMatchObject({ id: project, name: 'Mail', slug: 'mail' });
    expect(await findProjectBySlug(server.deps, 'post')).toBeNull();
    const secrets = must(await revealWebhookSecret(server.deps, project, OPERATOR));
    expect(secrets).toEqual(await webhookSecrets(server.deps, project));
  });

  it('a person is made, found by any spelling of the address, and takes a role in another project', async () => {
    const person = { email: 'Ann@Example.com', name: 'Ann', password: PASSWORD, project, role: 'admin' } as const;
    const { id } = must(await createPerson(server.deps, person, OPERATOR));
    expect(await findPersonByEmail(server.deps, 'ann@EXAMPLE.com')).toMatchObject({ id, email: 'ann@example.com', name: 'Ann' });
    const other = await server.project('Other');
    expect(await grantRole(server.deps, { project: other, person: id, role: 'reviewer' }, OPERATOR)).toMatchObject({ ok: true });
    expect(await peopleOf(server.deps, other)).toMatchObject([{ id, role: 'reviewer' }]);
  });

  it('a key is made with a preset', async () => {
    const made = must(await createApiKey(server.deps, project, { name: 'agent', scopes: [...SCOPE_PRESETS.agent] }, OPERATOR));
    expect(made.key.scopes).toContain('reviews:read');
  });

  it('what breaks the rules is refused before anything is written', async () => {
    const { deps } = server;
    const key = { name: 'agent', scopes: [...SCOPE_PRESETS.agent] };
    const person = { email: 'bob@example.com', name: 'Bob', password: PASSWORD, project, role: 'admin' } as const;
    const head = (await deps.store.head()).position;
    expect(await refusal(createProject(deps, { name: 'X', slug: 'Not A Slug' }, OPERATOR))).toEqual(['invalid_slug', 'slug']);
    expect(await refusal(createProject(deps, { name: '', slug: 'x' }, OPERATOR))).toEqual(['validation_failed', 'name']);
    expect(await refusal(createProject(deps, { name: 'Mail 2', slug: 'mail' }, OPERATOR))).toEqual(['slug_already_exists', 'slug']);
    expect(await refusal(createPerson(deps, { ...person, email: 'not an address' }, OPERATOR))).toEqual(['validation_failed', 'email']);
    expect(await refusal(createPerson(deps, { ...person, password: 'short' }, OPERATOR))).toEqual(['too_short', 'password']);
    expect(await refusal(createPerson(deps, { ...person, project: project.replace(/.{4}$/, '0000') }, OPERATOR))).toEqual([
      'project_not_found',
      undefined,
    ]);
    expect(await refusal(createApiKey(deps, project, { ...key, scopes: [] }, OPERATOR))).toEqual(['validation_failed', 'scopes']);
    expect(await refusal(createApiKey(deps, project, { ...key, rate_limit_per_hour: -1 }, OPERATOR))).toEqual([
      'validation_failed',
      'rate_limit_per_hour',
    ]);
    await expect(createApiKey(deps, project, { ...key, rawKey: 'gwk_short' }, OPERATOR)).rejects.toThrow(/64 lowercase hex/);
    expect((await deps.store.head()).position).toBe(head);
  });

  it('one raw key is never that of two keys', async () => {
    const input = { name: 'agent', scopes: [...SCOPE_PRESETS.agent], rawKey: newRawKey() };
    must(await createApiKey(server.deps, project, input, OPERATOR));
    await expect(createApiKey(server.deps, project, input, OPERATOR)).rejects.toThrow(/already used by another key/);
  });
});
