/** What every request of every caller costs: one query, and that one by indexes. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg, { type Pool, type QueryConfig } from 'pg';
import { createApiKey } from '../commands/keys.js';
import { OPERATOR } from '../provisioning.js';
import { must, type Server, startServer } from '../testing/server.js';
import { authenticate } from './authenticate.js';

let server: Server;
let key: string;
let token: string;
beforeAll(async () => {
  server = await startServer();
  const project = await server.project('Mail');
  await server.person(project, 'ann@example.com', 'admin');
  key = must(await createApiKey(server.deps, project, { name: 'mailer', scopes: ['reviews:create'] }, OPERATOR)).rawKey;
  token = (await server.signIn('ann@example.com')).token;
  // A directory of some size, so that the planner would have reason to read whole tables if it had to.
  await server.db.ownerPool.query(`
    insert into directory.sessions (id, token_hash, person, method, recovery, expires_at)
      select gen_random_uuid(), sha256(n::text::bytea), gen_random_uuid(), 'password', false, now() from generate_series(1, 5000) n;
    insert into directory.key_credentials (hash, fingerprint, key, project)
      select sha256(n::text::bytea), n::text, gen_random_uuid(), gen_random_uuid() from generate_series(1, 5000) n;
    insert into directory.persons (id, version, email, name, password_is_temporary, created_at)
      select person, 1, 'e' || id, 'n', false, now() from directory.sessions on conflict do nothing;
    insert into directory.memberships (person, project, role, since) select id, gen_random_uuid(), 'reviewer', now() from directory.persons
      where email <> 'ann@example.com';
    insert into directory.projects (id, version, name, slug, created_at, updated_at)
      select project, 1, 'n', project::text, now(), now() from directory.memberships on conflict do nothing;
    insert into directory.api_keys (id, version, project, status, fingerprint, prefix, name, scopes, created_at, updated_at)
      select key, 1, project, 'active', fingerprint, 'gwk_00000000', 'n', '{reviews:read}', now(), now() from directory.key_credentials on conflict do nothing;
    insert into directory.joining (person, project) select gen_random_uuid(), project from directory.memberships;
    insert into directory.gone (stream, version) select gen_random_uuid(), 1 from generate_series(1, 5000);
    insert into directory.key_uses (key, last_used_at) select id, now() from directory.api_keys on conflict do nothing;
    insert into event_store.streams (stream, category, project, shard, bucket, version, hash, first_position, last_position)
      select id, 'key', project, 0, 0, 1, '', 0, 0 from directory.api_keys on conflict do nothing;
  `);
  await server.db.ownerPool.query('analyze');
});
afterAll(() => server.close());

/** The queries a credential costs, once the minute in which its use is noted has begun. */
async function queriesOf(credential: string): Promise<QueryConfig[]> {
  const asked: QueryConfig[] = [];
  const pool = Object.create(server.db.pool, {
    query: {
      value: (query: QueryConfig) => {
        asked.push(query);
        return server.db.pool.query(query);
      },
    },
  }) as Pool;
  const ask = () => authenticate({ ...server.deps, pool }, { via: 'bearer', credential, ip: '203.0.113.1' });
  await ask();
  asked.length = 0;
  expect((await ask()).actor).toBeDefined();
  return asked;
}

interface Plan {
  'Node Type': string;
  'Relation Name'?: string;
  Plans?: Plan[];
}
const scanned = (plan: Plan): string[] => [
  ...(plan['Node Type'] === 'Seq Scan' ? [plan['Relation Name'] ?? ''] : []),
  ...(plan.Plans ?? []).flatMap(scanned),
];

/** The plan a connection keeps for the prepared statement, made without looking at the values. */
async function planOf({ name, text, values = [] }: QueryConfig): Promise<Plan> {
  expect(name).toBeDefined();
  const literals = values.map((value) => (Buffer.isBuffer(value) ? `'\\x${value.toString('hex')}'` : pg.escapeLiteral(String(value))));
  const client = await server.db.ownerPool.connect();
  try {
    await client.query(`set plan_cache_mode = force_generic_plan; prepare asked as ${text}`);
    const { rows } = await client.query(`explain (format json) execute asked(${literals.join(', ')})`);
    return rows[0]['QUERY PLAN'][0].Plan;
  } finally {
    client.release(true);
  }
}

describe.each([
  ['an API key', () => key],
  ['a session', () => token],
])('%s', (_, credential) => {
  it('is known after one query, which reads no table whole', async () => {
    const asked = await queriesOf(credential());
    expect(asked).toHaveLength(1);
    const [query] = asked;
    // The clock is a table of one row.
    expect(scanned(await planOf(query as QueryConfig)).filter((table) => table !== 'clock')).toEqual([]);
  });
});
