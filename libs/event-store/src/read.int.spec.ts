import { type TestDatabase, testDatabase } from '@countersign/testing';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { CATEGORIES, one } from './append/append.fixture.js';
import { newId, PostgresEventStore } from './index.js';

// For what hangs: one of these appends many thousands.
jest.setTimeout(300_000);

let db: TestDatabase;
let store: PostgresEventStore;

beforeAll(async () => {
  db = await testDatabase();
  store = new PostgresEventStore({ pool: db.pool, writer: 'test', categories: CATEGORIES });
});
afterAll(async () => {
  await store.close();
  await db.close();
});

describe('reading', () => {
  it('folds history as it stood', async () => {
    const stream = newId('rev');
    for (let i = 0; i < 5; i++) await store.append(one(stream, i, { i }));
    const past = await store.readStream(stream, { upToVersion: 3 });
    expect(past.version).toBe(3);
    expect(past.events.map((e) => e.version)).toEqual([1, 2, 3]);
    expect(await store.readStream(newId('rev'))).toMatchObject({ events: [], version: 0, project: null, now: expect.stringMatching(/Z$/) });
  });

  it('goes through everything in position order, page by page, also when filtered', async () => {
    const mine = newId('prj');
    for (let i = 0; i < 7; i++) {
      const prefix = i % 2 ? 'tpl' : 'rev';
      await store.append({
        streams: [{ stream: newId(prefix), project: mine, expectedVersion: 0, events: [{ type: 'x', body: { i } }] }],
        meta: {},
      });
    }
    const { position } = await store.head();
    const all: number[] = [];
    for (let after = 0; ; ) {
      const page = await store.readAll({ after, limit: 7 });
      if (page.length === 0) break;
      all.push(...page.map((e) => e.position));
      after = page.at(-1)?.position ?? after;
    }
    expect(all).toEqual(Array.from({ length: position }, (_, i) => i + 1));

    const ours = await store.readAll({ after: 0, limit: 100, project: mine });
    expect(ours.map((e) => (e.body as { i: number }).i)).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect(
      (await store.readAll({ after: 0, limit: 2, project: mine, categories: ['template'] })).map((e) => (e.body as { i: number }).i),
    ).toEqual([1, 3]);
    const buckets = [...new Set(ours.map((e) => e.bucket))];
    expect(await store.readAll({ after: 0, limit: 100, project: mine, bucket: buckets })).toEqual(ours);
    expect(await store.readAll({ after: 0, limit: 100, project: mine, bucket: [] })).toEqual([]);
    expect(await store.readAll({ after: position, limit: 100 })).toEqual([]);
  });

  it('ends a page before its JSON gets too long, never before its first event', async () => {
    const mine = newId('prj');
    for (let i = 0; i < 4; i++) {
      await store.append({
        streams: [{ stream: newId('rev'), project: mine, expectedVersion: 0, events: [{ type: 'x', body: 'x'.repeat(1_000) }] }],
        meta: {},
      });
    }
    const page = (maxBytes: number) => store.readAll({ after: 0, limit: 10, project: mine, maxBytes });
    expect(await page(2_500)).toHaveLength(2);
    expect(await page(1)).toHaveLength(1);
    expect(await page(1_000_000)).toHaveLength(4);
    const last = (await page(1_000_000)).at(-1)?.position ?? 0;
    expect(await store.readAll({ after: last, limit: 10, project: mine, maxBytes: 10 })).toEqual([]);
  });

  it('finds what a filter leaves over among many thousands, near and far', async () => {
    const mine = newId('prj');
    const mark = async (n: number) => {
      const part = { stream: newId('rev'), project: mine, expectedVersion: 0, events: [{ type: 'x', body: { n } }] };
      expect((await store.append({ streams: [part], meta: {} })).status).toBe('appended');
    };
    // Straight into the tables: their hashes are nobody's business here.
    const crowd = (n: number) =>
      db.ownerPool.query(
        `with h as (update event_store.head set position = position + $1 returning position - $1 as before)
         insert into event_store.events select before + i, 0, gen_random_uuid(), 1, 0, 1, gen_random_uuid(), gen_random_uuid(), event_store.now(),
           'review', 'crowd', '{}', '{}', '', '', '', '', '' from h, generate_series(1, $1::integer) i`,
        [n],
      );
    await mark(1);
    await crowd(11_000);
    await mark(2);
    await crowd(60_000);
    await mark(3);
    const found = async (after: number, limit: number) =>
      (await store.readAll({ after, limit, project: mine })).map((e) => (e.body as { n: number }).n);
    expect(await found(0, 10)).toEqual([1, 2, 3]);
    expect(await found(0, 2)).toEqual([1, 2]);
    const { position } = await store.head();
    expect(await found(position - 60_000, 10)).toEqual([3]);
    expect(await found(position, 10)).toEqual([]);
    expect((await store.readAll({ after: 0, limit: 10, project: mine, maxBytes: 1_000_000 })).map((e) => e.version)).toEqual([1]);
  });
});
