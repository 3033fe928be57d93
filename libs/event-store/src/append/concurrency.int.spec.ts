import { createPool } from '@countersign/database';
import { type TestDatabase, testDatabase } from '@countersign/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { type AppendRequest, type AppendResult, newId, PostgresEventStore, type StoredEvent } from '../index.js';

const CATEGORIES = { review: 'rev', person: 'per' };
const project = newId('prj');
let db: TestDatabase;
const stores: PostgresEventStore[] = [];

/** A store with its own appending connection, as another process would have. */
function newStore(): PostgresEventStore {
  const store = new PostgresEventStore({ pool: db.pool, writer: 'test', categories: CATEGORIES });
  stores.push(store);
  return store;
}
const one = (stream: string, expectedVersion: number | 'any', body: unknown = {}, extra: Partial<AppendRequest> = {}): AppendRequest => ({
  streams: [{ stream, project, expectedVersion, events: [{ type: 'happened', body }] }],
  meta: {},
  ...extra,
});

async function everything(store: PostgresEventStore): Promise<StoredEvent[]> {
  const events: StoredEvent[] = [];
  for (;;) {
    const page = await store.readAll({ after: events.length, limit: 1_000 });
    if (page.length === 0) return events;
    events.push(...page);
  }
}

/** The log is whole: dense positions and versions, and every hash fits. */
async function expectWhole(store: PostgresEventStore): Promise<StoredEvent[]> {
  const events = await everything(store);
  expect(events.map((e) => e.position)).toEqual(events.map((_, i) => i + 1));
  const versions = new Map<string, number>();
  for (const event of events) {
    expect(event.version).toBe((versions.get(event.stream) ?? 0) + 1);
    versions.set(event.stream, event.version);
  }
  expect(await store.verify()).toMatchObject({ valid: true, events: events.length, firstBad: null });
  return events;
}

beforeAll(async () => {
  db = await testDatabase();
});
afterAll(async () => {
  await Promise.all(stores.map((store) => store.close()));
  await db.close();
});

describe('many writers', () => {
  it('number densely, and one of them wins each version', async () => {
    const writers = Array.from({ length: 8 }, newStore);
    const streams = Array.from({ length: 40 }, () => newId('rev'));
    let won = 0;
    await Promise.all(
      writers.flatMap((store, w) =>
        Array.from({ length: 4 }, async (_, n) => {
          for (let i = 0; i < 25; i++) {
            const stream = streams[(i * 7 + w * 3 + n) % streams.length] as string;
            const { version } = await store.readStream(stream);
            const result = await store.append(one(stream, version, { w, n, i }));
            expect(['appended', 'conflict']).toContain(result.status);
            if (result.status === 'appended') won += 1;
          }
        }),
      ),
    );
    const events = await expectWhole(writers[0] as PostgresEventStore);
    expect(events).toHaveLength(won);
    expect(won).toBeGreaterThan(100);
  });

  it('on one version: exactly one appends, the others learn what it made', async () => {
    const stream = newId('rev');
    const results = await Promise.all(Array.from({ length: 8 }, newStore).map((store, i) => store.append(one(stream, 0, { i }))));
    expect(results.filter((r) => r.status === 'appended')).toHaveLength(1);
    for (const result of results)
      if (result.status !== 'appended') expect(result).toEqual({ status: 'conflict', stream, currentVersion: 1 });
  });

  it.each([
    ['idempotency key', (i: number) => ({ idempotency: { scope: 'race', key: 'k1', inputHash: 'h' }, commandId: i < 0 ? 'x' : undefined })],
    ['command id', () => ({ commandId: 'race/1' })],
  ])('with one %s make one copy of fifty', async (_, extra) => {
    const writers = Array.from({ length: 5 }, newStore);
    const results = await Promise.all(
      Array.from({ length: 50 }, (_, i) => writers[i % 5]?.append(one(newId('rev'), 0, { i }, extra(i))) as Promise<AppendResult>),
    );
    const first = results.filter((r) => r.status === 'appended');
    expect(first).toHaveLength(1);
    const stream = first[0]?.status === 'appended' ? first[0].streams[0]?.stream : '';
    for (const result of results)
      if (result.status !== 'appended') expect(result).toMatchObject({ status: 'repeated', stream, version: 1 });
  });

  it('reserving one key: one holds it', async () => {
    const writers = Array.from({ length: 6 }, newStore);
    const people = Array.from({ length: 30 }, () => newId('per'));
    const results = await Promise.all(
      people.map(
        (person, i) => writers[i % 6]?.append(one(person, 0, {}, { reserve: ['email/z@x', `email/${i}@x`] })) as Promise<AppendResult>,
      ),
    );
    const winner = people[results.findIndex((r) => r.status === 'appended')];
    expect(results.filter((r) => r.status === 'appended')).toHaveLength(1);
    expect(results.filter((r) => r.status === 'reserved' && r.key === 'email/z@x' && r.holder === winner)).toHaveLength(29);
    const { rows } = await db.pool.query("select count(*) as n from event_store.reservations where key like 'email/%'");
    expect(rows[0].n).toBe(2);
  });

  it('taking keys and streams in crossing orders all come through', async () => {
    const writers = Array.from({ length: 4 }, newStore);
    const people = Array.from({ length: 6 }, () => newId('per'));
    await Promise.all(
      people.map((person, i) => (writers[0] as PostgresEventStore).append(one(person, 0, {}, { reserve: [`cross/${i}`] }))),
    );
    const results = await Promise.all(
      Array.from({ length: 80 }, (_, n) => {
        const [a, b] = n % 2 ? [n % 6, (n + 1) % 6] : [(n + 1) % 6, n % 6];
        return writers[n % 4]?.append({
          streams: [people[a] as string, people[b] as string].map((stream) => ({
            stream,
            project,
            expectedVersion: 'any',
            events: [{ type: 'x', body: n }],
          })),
          meta: {},
          reserve: [`cross/${a}`],
          release: [`cross/${b}`],
        }) as Promise<AppendResult>;
      }),
    );
    for (const result of results) expect(['appended', 'reserved']).toContain(result.status);
    await expectWhole(writers[0] as PostgresEventStore);
  });
});

describe('transactions that are slow or undone', () => {
  it('leave no gap and are never skipped', async () => {
    const store = newStore();
    const before = (await store.head()).position;
    const slow = new pg.Client({ connectionString: db.ownerUrl });
    await slow.connect();
    // Holds the head as an append does that takes long, then goes back.
    await slow.query('begin; select from event_store.head where shard = 0 for update');
    const waiting = Array.from({ length: 5 }, () => store.append(one(newId('rev'), 0)));
    expect(await store.readAll({ after: before, limit: 10 })).toEqual([]);
    await slow.query('rollback');
    await slow.end();
    await Promise.all(waiting);
    const seen = await store.readAll({ after: before, limit: 10 });
    expect(seen.map((e) => e.position)).toEqual([1, 2, 3, 4, 5].map((n) => before + n));
  });

  it('of another database do not hold readers up', async () => {
    const store = newStore();
    const other = new pg.Client({ connectionString: db.ownerUrl.replace(/\/[^/?]+(\?|$)/, '/postgres$1') });
    await other.connect();
    await other.query('begin; select pg_current_xact_id()');
    const result = await store.append(one(newId('rev'), 0));
    const position = result.status === 'appended' ? result.position : 0;
    expect((await store.readAll({ after: position - 1, limit: 1 })).map((e) => e.position)).toEqual([position]);
    await other.query('rollback');
    await other.end();
  });

  it('that fail in the function leave the head where it was', async () => {
    const store = newStore();
    const { position } = await store.head();
    const intruder = new PostgresEventStore({ pool: db.pool, writer: 'nobody', categories: CATEGORIES });
    await expect(intruder.append(one(newId('rev'), 0))).rejects.toThrow('may not append');
    await intruder.close();
    const result = await store.append(one(newId('rev'), 0));
    expect(result).toMatchObject({ status: 'appended', position: position + 1 });
  });
});

describe('a connection that breaks', () => {
  /** Ends the server's side of every appending connection, as a crash or a failover does. */
  async function breakConnections(): Promise<number> {
    const { rows } = await db.ownerPool.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query like '%event_store.append(%' and pid <> pg_backend_pid()",
    );
    return rows.length;
  }

  it('again and again under load loses nothing and doubles nothing', async () => {
    const writers = Array.from({ length: 3 }, newStore);
    const acknowledged: string[] = [];
    let running = true;
    let broken = 0;
    const breaking = (async () => {
      // Each time a little progress was made, so that the load is always in the middle of something.
      for (let progress = 5; running; ) {
        if (acknowledged.length >= progress) {
          broken += await breakConnections();
          progress = acknowledged.length + 60;
        }
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
    })();
    await Promise.all(
      Array.from({ length: 24 }, async (_, caller) => {
        for (let i = 0; i < 40; i++) {
          const mark = `${caller}/${i}`;
          const store = writers[caller % 3] as PostgresEventStore;
          const stream = newId('rev');
          const first = await store.append(one(stream, i % 3 ? 0 : 'any', { mark }, i % 5 ? {} : { commandId: mark }));
          expect(first.status === 'appended').toBe(true);
          acknowledged.push(mark);
          const second = await store.append(one(stream, 'any', { mark: `${mark}+` }));
          expect(second).toMatchObject({ status: 'appended', streams: [{ version: 2 }] });
          acknowledged.push(`${mark}+`);
        }
      }),
    );
    running = false;
    await breaking;
    expect(broken).toBeGreaterThan(5);
    const marks = (await expectWhole(writers[0] as PostgresEventStore))
      .map((e) => (e.body as { mark?: string }).mark)
      .filter((mark) => mark !== undefined);
    expect([...marks].sort()).toEqual(acknowledged.sort());
  }, 60_000);

  it('after the commit and before the answer: the batch sent again is answered as the first time', async () => {
    // What the store does when the answer is lost, done by hand: the same batch, number and all, twice.
    const { appendParameters, APPEND, appendResults } = await import('./batch.js');
    const { prepare } = await import('./request.js');
    const categories = {
      prefixes: CATEGORIES,
      byPrefix: new Map([
        ['rev', 'review'],
        ['per', 'person'],
      ]),
    };
    const taken = newId('rev');
    await newStore().append(one(taken, 0));
    const requests = [one(newId('rev'), 0, { n: 1 }), one(taken, 0), one(newId('rev'), 'any', { n: 2 })].map((request) =>
      prepare(request, categories),
    );
    const send = async (batch: number) => {
      const values = appendParameters({ writer: 'test', appender: '00000000-0000-4000-8000-00000000000a', batch }, requests);
      const { rows } = await db.pool.query({ ...APPEND, name: undefined, values });
      return appendResults(rows[0], requests, CATEGORIES);
    };
    const first = await send(1);
    const { position } = await newStore().head();
    expect(first.map((r) => r.status)).toEqual(['appended', 'conflict', 'appended']);
    expect(await send(1)).toEqual(first);
    expect((await newStore().head()).position).toBe(position);
    // A successor makes the first one history: should it still be on its way, it is refused.
    expect((await send(2)).map((r) => r.status)).toEqual(['conflict', 'conflict', 'appended']);
    await expect(send(1)).rejects.toThrow('has a successor');
    await expectWhole(newStore());
  });

  it('for good is said to the caller, and the store works again when it is back', async () => {
    const url = new URL(db.ownerUrl);
    const pool = createPool({ connectionString: url.href, role: 'countersign_app' });
    const store = new PostgresEventStore({ pool, writer: 'test', categories: CATEGORIES, patienceMs: 50 });
    await store.append(one(newId('rev'), 0));
    // No new connection can be made to a database that is being renamed away.
    const name = url.pathname.slice(1);
    const admin = new pg.Client({ connectionString: db.ownerUrl.replace(/\/[^/?]+(\?|$)/, '/postgres$1') });
    await admin.connect();
    await admin.query(`alter database ${name} allow_connections false`);
    await breakConnections();
    await expect(store.append(one(newId('rev'), 0))).rejects.toMatchObject({ name: 'EventStoreUnavailableError' });
    await admin.query(`alter database ${name} allow_connections true`);
    await admin.end();
    expect((await store.append(one(newId('rev'), 0))).status).toBe('appended');
    await store.close();
    await pool.end();
  });
});
