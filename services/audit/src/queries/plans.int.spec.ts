/** What a page of a list costs, however many reviews there are: a few rows of one index, already in order. */
import { defaultSets, type TestDatabase, testDatabase } from '@countersign/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { readModels } from '../entities.js';
import { AUDIT_MIGRATIONS } from '../migrations.js';
import { type Filter, type Found, listDecided, listReviews } from './reviews.js';

let db: TestDatabase;
let source: DataSource;
const asked: { sql: string; values: unknown[] }[] = [];

beforeAll(async () => {
  db = await testDatabase({ sets: [...defaultSets(), AUDIT_MIGRATIONS] });
  // Of a hundred two expired, twenty are open, thirty decided, the rest archived: no index is as good as another.
  await db.ownerPool.query(`
    insert into audit.reviews (review, project, template, template_slug, status, priority, urgency, assignee, outcome, created_at, decided_at,
      version, state)
    select 'rev_' || lpad(n::text, 26, '0'), 'p', 't', 'mail', status, 'normal', 1, case when n % 500 = 0 then 'ann@example.org' end,
      case when status in ('decided', 'archived') then 'approved' end, at, case when status in ('decided', 'archived') then at end, 1,
      json_build_object('outcome', case when status = 'expired' then json_build_object('expired_at', at)
        when status <> 'pending' then json_build_object('decided_at', at) end)
    from (
      select n, timestamptz '2026-01-01 00:00:00Z' + n * interval '1 minute' as at,
        case when n % 100 < 2 then 'expired' when n % 100 < 22 then 'pending' when n % 100 < 52 then 'decided' else 'archived' end as status
      from generate_series(1, 20000) n
    ) made`);
  await db.ownerPool.query('analyze audit.reviews');
  source = await readModels(db.ownerUrl);
  const silent = () => {};
  source.setOptions({
    logging: ['query'],
    logger: {
      logQuery: (sql: string, values: unknown[] = []) => asked.push({ sql, values }),
      logQueryError: silent,
      logQuerySlow: silent,
      logSchemaBuild: silent,
      logMigration: silent,
      log: silent,
    },
  });
});
afterAll(async () => {
  await source.destroy();
  await db.close();
});

interface Plan {
  'Node Type': string;
  'Index Name'?: string;
  Plans?: Plan[];
}
const steps = (plan: Plan): string[] => [plan['Index Name'] ?? plan['Node Type'], ...(plan.Plans ?? []).flatMap(steps)];

/** How the database finds the rows of the page that was read last. */
async function planOfLast(): Promise<string[]> {
  const last = asked.splice(0).find(({ sql }) => sql.includes('"audit"."reviews"'));
  const { rows } = await db.ownerPool.query<{ 'QUERY PLAN': { Plan: Plan }[] }>(`explain (format json) ${last?.sql}`, last?.values);
  return rows.flatMap((row) => row['QUERY PLAN'].flatMap(({ Plan }) => steps(Plan)));
}

const settled = (filter: Partial<Filter>) => (cursor?: string) =>
  listReviews(
    source,
    { project: 'p', templates: null, sort: 'settled_at', ...filter },
    { limit: 50, offset: 0, ...(cursor === undefined ? {} : { cursor }) },
  );

describe('a page in the order of its end', () => {
  it.each<[string, string, (cursor?: string) => Promise<Found>]>([
    ['of everything', 'reviews_settled', settled({})],
    ['of what was decided', 'reviews_settled_by_status', settled({ status: 'decided' })],
    ['of the few that expired', 'reviews_settled_by_status', settled({ status: 'expired' })],
    ['of what was archived', 'reviews_settled_by_status', settled({ status: 'archived' })],
    [
      'of feedback',
      'reviews_decided',
      (cursor) =>
        listDecided(source, { project: 'p', templates: null }, { limit: 50, offset: 0, ...(cursor === undefined ? {} : { cursor }) }),
    ],
  ])('%s is read from one index, the first as one further on', async (_, index, read) => {
    const first = await read();
    expect(await planOfLast()).toEqual(['Limit', index]);
    expect(first).toMatchObject({ hasMore: true, nextCursor: expect.any(String) });
    await read(first.nextCursor);
    expect(await planOfLast()).toEqual(['Limit', index]);
  });
});
