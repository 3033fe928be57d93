import { type TestDatabase, testDatabase } from '@countersign/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { newId } from '../index.js';
import type { AppendRequest } from '../types.js';
import { Appender } from './appender.js';
import { prepare } from './request.js';

const PREFIXES = { review: 'rev' };
const categories = { prefixes: PREFIXES, byPrefix: new Map([['rev', 'review']]) };
const project = newId('prj');
let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase();
});
afterAll(() => db.close());

const request = (stream: string, body: unknown = {}, extra: Partial<AppendRequest> = {}) =>
  prepare({ streams: [{ stream, project, expectedVersion: 'any', events: [{ type: 'x', body }] }], meta: {}, ...extra }, categories);

/** How many batches were committed: the number each process gives its last one. */
async function batches(): Promise<number> {
  return (await db.ownerPool.query('select coalesce(sum(batch), 0)::integer as n from event_store.appenders')).rows[0].n;
}

/** Runs `fill` while the first batch cannot be committed, so that what `fill` adds waits together. */
async function whileBusy(appender: Appender, fill: () => Promise<unknown>[]): Promise<{ results: unknown[]; batches: number }> {
  const before = await batches();
  const holder = new pg.Client({ connectionString: db.ownerUrl });
  await holder.connect();
  await holder.query('begin; select from event_store.head where shard = 0 for update');
  const first = appender.append(request(newId('rev')));
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  const rest = fill();
  await holder.query('commit');
  await holder.end();
  const results = await Promise.all([first, ...rest]);
  return { results: results.slice(1), batches: (await batches()) - before - 1 };
}

describe('the group commit', () => {
  it.each([
    [16, 1],
    [200, 2],
  ])('sends %i that waited together in %i', async (waiting, expected) => {
    const appender = new Appender({ pool: db.pool, writer: 'test', prefixes: PREFIXES });
    const fill = () => Array.from({ length: waiting }, () => appender.append(request(newId('rev'))));
    const { results, batches } = await whileBusy(appender, fill);
    expect(results.every((r) => (r as { status: string }).status === 'appended')).toBe(true);
    expect(batches).toBe(expected);
    await appender.close();
  });

  it('settles into halves, however unequal it began: callers that append one thing after the other', async () => {
    const appender = new Appender({ pool: db.pool, writer: 'test', prefixes: PREFIXES });
    const [callers, each] = [64, 10];
    const before = await batches();
    await Promise.all(
      Array.from({ length: callers }, async () => {
        for (let n = 0; n < each; n++) await appender.append(request(newId('rev')));
      }),
    );
    expect((await batches()) - before).toBeLessThanOrEqual(2 * each + 4);
    expect((await batches()) - before).toBeGreaterThanOrEqual(2 * each - 2);
    await appender.close();
  });

  it('keeps within its limits of events and bytes, and takes a larger request alone', async () => {
    const appender = new Appender({ pool: db.pool, writer: 'test', prefixes: PREFIXES, maxEvents: 10, maxBytes: 5_000 });
    const small = await whileBusy(appender, () => Array.from({ length: 35 }, () => appender.append(request(newId('rev')))));
    expect(small.batches).toBe(4);
    const large = await whileBusy(appender, () => [1, 2, 3].map(() => appender.append(request(newId('rev'), 'x'.repeat(6_000)))));
    expect(large.batches).toBe(3);
    await appender.close();
  });

  it('holds back what touches the same stream, key or timer, in order, and lets the rest pass', async () => {
    const appender = new Appender({ pool: db.pool, writer: 'test', prefixes: PREFIXES });
    const stream = newId('rev');
    const { batches, results } = await whileBusy(appender, () => [
      appender.append(request(stream, 1)),
      appender.append(request(newId('rev'), 'a')),
      appender.append(request(stream, 2)),
      appender.append(request(newId('rev'), 'b', { reserve: ['hb/1'] })),
      appender.append(request(newId('rev'), 'c', { reserve: ['hb/1'] })),
      appender.append(request(stream, 3)),
      appender.append(request(newId('rev'), 'd', { commandId: 'hb/2' })),
      appender.append(request(newId('rev'), 'e', { commandId: 'hb/2' })),
      appender.append(request(newId('rev'), 'f')),
    ]);
    expect(results.map((r) => (r as { status: string }).status)).toEqual([
      ...['appended', 'appended', 'appended', 'appended', 'reserved', 'appended', 'appended', 'repeated', 'appended'],
    ]);
    expect(batches).toBe(3);
    expect(
      results.filter((_, i) => [0, 2, 5].includes(i)).map((r) => (r as { streams: { version: number }[] }).streams[0]?.version),
    ).toEqual([1, 2, 3]);
    await appender.close();
  });

  it('refuses at once what would wait behind too many', async () => {
    const appender = new Appender({ pool: db.pool, writer: 'test', prefixes: PREFIXES, maxWaiting: 5 });
    const { results } = await whileBusy(appender, () =>
      Array.from({ length: 8 }, () => appender.append(request(newId('rev'))).catch((error) => error)),
    );
    expect(results.filter((r) => r instanceof Error)).toHaveLength(3);
    expect(results.at(-1)).toMatchObject({ name: 'EventStoreUnavailableError' });
    await appender.close();
  });

  it('gives up a connection on which PostgreSQL does not answer, and the append is stored once', async () => {
    const appender = new Appender({ pool: db.pool, writer: 'test', prefixes: PREFIXES, batchTimeoutMs: 100 });
    const stream = newId('rev');
    await appender.append(request(stream));
    const holder = new pg.Client({ connectionString: db.ownerUrl });
    await holder.connect();
    await holder.query('begin; select from event_store.head where shard = 0 for update');
    const append = appender.append(request(stream));
    // Several attempts queue up at the lock, each on its own connection.
    for (let waiting = 0; waiting < 3; ) {
      const { rows } = await db.ownerPool.query(
        "select count(*)::integer as n from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()",
      );
      waiting = rows[0].n;
    }
    await holder.query('rollback');
    await holder.end();
    expect(await append).toMatchObject({ status: 'appended', streams: [{ version: 2 }] });
    // Those that were given up come to nothing.
    for (let left = 1; left > 0; ) {
      const { rows } = await db.ownerPool.query(
        "select count(*)::integer as n from pg_stat_activity where datname = current_database() and state = 'active' and query like '%event_store.append(%' and pid <> pg_backend_pid()",
      );
      left = rows[0].n;
    }
    const { rows } = await db.ownerPool.query(
      'select count(*)::integer as n from event_store.events where stream = (select stream from event_store.streams order by last_position desc limit 1)',
    );
    expect(rows[0].n).toBe(2);
    await appender.close();
  });

  it('sends what waits before it closes, and takes nothing after', async () => {
    const appender = new Appender({ pool: db.pool, writer: 'test', prefixes: PREFIXES });
    const stream = newId('rev');
    const pending = [1, 2, 3].map((n) => appender.append(request(stream, n)));
    await appender.close();
    expect((await Promise.all(pending)).map((r) => r.status)).toEqual(['appended', 'appended', 'appended']);
    await expect(appender.append(request(stream))).rejects.toThrow('closed');
  });
});
