import { type Access, type ErrorCode, errorsOf, isErrorCode, OPERATIONS, type Operation, SCOPES } from '@countersign/contracts';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { anAgent, aPerson, type Edge, startEdge } from '../fixture/edge.js';

const project_id = 'prj_01k00000000000000000000001';
const key = (letter: string) => `gwk_${letter.repeat(64)}`;

/** Everybody who may come to the door, by what they carry. */
const CALLERS = {
  nobody: {},
  basic: { authorization: 'Basic dTpw' },
  key: { authorization: `Bearer ${key('a')}` },
  'key without scopes': { authorization: `Bearer ${key('b')}` },
  'unknown key': { authorization: `Bearer ${key('c')}` },
  'expired key': { authorization: `Bearer ${key('d')}` },
  reviewer: { authorization: 'Bearer reviewer' },
  admin: { authorization: 'Bearer admin' },
  "another project's admin": { authorization: 'Bearer admin', 'x-project-id': 'prj_01k00000000000000000000002' },
  'unknown session': { authorization: 'Bearer nobody' },
  'reviewer by cookie': { cookie: 'countersign_session=reviewer', 'sec-fetch-site': 'same-origin' },
} as const;
type Caller = keyof typeof CALLERS;

/** The matrix once more, as HRP §0 and decision 7 state it: what each class answers each caller who may not come in. */
const DENIED: Record<Exclude<Access, 'public'>, Partial<Record<Caller, ErrorCode>>> = {
  key: {
    nobody: 'missing_api_key',
    basic: 'missing_api_key',
    'unknown key': 'invalid_api_key',
    'expired key': 'key_expired',
    'unknown session': 'invalid_api_key_format',
    reviewer: 'invalid_api_key_format',
    admin: 'invalid_api_key_format',
    "another project's admin": 'invalid_api_key_format',
    'reviewer by cookie': 'invalid_api_key_format',
  },
  session: {
    nobody: 'missing_token',
    basic: 'missing_token',
    key: 'invalid_token',
    'key without scopes': 'invalid_token',
    'unknown key': 'invalid_token',
    'expired key': 'invalid_token',
    'unknown session': 'invalid_token',
    "another project's admin": 'forbidden',
  },
  admin: {
    nobody: 'missing_token',
    basic: 'missing_token',
    key: 'invalid_token',
    'key without scopes': 'invalid_token',
    'unknown key': 'invalid_token',
    'expired key': 'invalid_token',
    'unknown session': 'invalid_token',
    "another project's admin": 'forbidden',
    reviewer: 'forbidden',
    'reviewer by cookie': 'forbidden',
  },
  key_or_session: {
    nobody: 'missing_credentials',
    basic: 'missing_credentials',
    'unknown key': 'invalid_api_key',
    'expired key': 'key_expired',
    'unknown session': 'invalid_token',
    "another project's admin": 'forbidden',
  },
  human: {
    nobody: 'missing_credentials',
    basic: 'missing_credentials',
    key: 'human_actor_required',
    'key without scopes': 'human_actor_required',
    'unknown key': 'invalid_api_key',
    'expired key': 'key_expired',
    'unknown session': 'invalid_token',
    "another project's admin": 'forbidden',
  },
};

const REVIEWER_SCOPES = ['reviews:read', 'reviews:decide', 'reviews:claim', 'reviews:release', 'templates:read', 'stats:read'];

function expected(operation: Operation, caller: Caller): ErrorCode | 'admitted' {
  if (operation.access === 'public') return 'admitted';
  const { scopes, access } = operation;
  // HRP §1.2: a session that submits is forbidden, and not unauthenticated.
  if (access === 'key' && scopes.includes('reviews:create')) {
    if (caller === 'reviewer' || caller === 'admin' || caller === 'reviewer by cookie' || caller === "another project's admin")
      return 'forbidden';
  }
  const denied = DENIED[access][caller];
  if (denied) return denied;
  if (caller === 'key without scopes' && scopes.length > 0) return 'forbidden';
  if (caller.startsWith('reviewer') && scopes.some((scope) => !REVIEWER_SCOPES.includes(scope))) return 'forbidden';
  return 'admitted';
}

describe('who comes in', () => {
  let edge: Edge;
  beforeAll(async () => {
    edge = await startEdge({ SECURITY_CONTACT: 'mailto:sec@example.com' });
    edge.credentials
      .set(key('a'), anAgent({ project_id, scopes: [...SCOPES] }))
      .set(key('b'), anAgent({ project_id, scopes: [] }))
      .set(key('d'), { code: 'key_expired' })
      .set('reviewer', aPerson({ project_id, roles: { [project_id]: 'reviewer' } }))
      .set('admin', aPerson({ project_id, roles: { [project_id]: 'admin' } }));
  });
  afterAll(() => edge.close());

  it.each(OPERATIONS.filter(({ id }) => id !== 'streamEvents').map((operation) => [operation.id, operation] as const))(
    'to %s',
    async (_, operation) => {
      const path = operation.path.replaceAll(/\{\w+\}/g, 'an-id');
      for (const caller of Object.keys(CALLERS) as Caller[]) {
        edge.asked.length = 0;
        const response = await edge.fetch(path, { method: operation.method, headers: CALLERS[caller] });
        const answer = response.headers.get('content-type')?.startsWith('application/json')
          ? ((await response.json()) as { error?: { code: ErrorCode } })
          : {};
        const outcome = answer.error?.code ?? 'admitted';
        expect([caller, outcome]).toEqual([caller, expected(operation, caller)]);
        expect(edge.asked.length).toBe(outcome === 'admitted' && operation.service !== 'gateway' ? 1 : 0);
        if (isErrorCode(outcome)) expect([outcome, errorsOf(operation).includes(outcome)]).toEqual([outcome, true]);
      }
    },
  );

  it('names the scopes that are missing', async () => {
    const response = await edge.fetch('/api/v1/reviews', { key: key('b') });
    expect(await response.json()).toMatchObject({
      error: { code: 'forbidden', message: 'Missing scope: reviews:read.', missing_scopes: ['reviews:read'] },
    });
  });

  it('a person in the project the request names', async () => {
    const other = 'prj_01k00000000000000000000003';
    edge.credentials.set('both', aPerson({ project_id, roles: { [project_id]: 'admin', [other]: 'reviewer' } }));
    const settings = (project: string) => edge.fetch('/api/v1/settings/api-keys', { key: 'both', headers: { 'x-project-id': project } });
    expect((await settings(project_id)).status).toBe(200);
    expect((await settings(other)).status).toBe(403);
  });

  it('no key in another project than its own', async () => {
    const templates = (project: string) => edge.fetch('/api/v1/templates', { key: key('a'), headers: { 'x-project-id': project } });
    expect((await templates(project_id)).status).toBe(200);
    const refused = await templates('prj_01k00000000000000000000002');
    expect([refused.status, await refused.json()]).toMatchObject([
      403,
      { error: { code: 'forbidden', message: expect.stringMatching(/X-Project-Id names another project/) } },
    ]);
  });
});
