import { type TestDatabase, testDatabase } from '@countersign/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { type AppendResult, newId, PostgresEventStore, uuidOf } from '../index.js';
import { appended, CATEGORIES, one } from './append.fixture.js';

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

describe('requests of one batch', () => {
  it('are answered each for itself', async () => {
    const [stream, holder] = [newId('rev'), newId('per')];
    await store.append(one(stream, 0, {}, { idempotency: { scope: 's', key: 'k', inputHash: 'h' } }));
    await store.append(one(holder, 0, {}, { reserve: ['batch-key'] }));
    const past = '2000-01-01T00:00:00.000Z';
    const results = await Promise.all([
      store.append(one(newId('rev'), 0)),
      store.append(one(stream, 0)),
      store.append(one(newId('rev'), 0, {}, { idempotency: { scope: 's', key: 'k', inputHash: 'h' } })),
      store.append(one(newId('per'), 0, {}, { reserve: ['batch-key'] })),
      store.append(one(newId('rev'), 0, {}, { notAfter: past })),
      store.append(one(newId('rev'), 0, {}, { notBefore: '2100-01-01T00:00:00.000Z' })),
      store.append(one(newId('rev'), 0)),
    ]);
    expect(results.map((r) => r.status)).toEqual(['appended', 'conflict', 'repeated', 'reserved', 'too_late', 'too_early', 'appended']);
    expect(appended(results[6] as AppendResult).position).toBe(appended(results[0] as AppendResult).position + 1);
  });

  it('leave no trace of those refused beside those taken', async () => {
    const [holder, other] = [newId('per'), newId('per')];
    await store.append(
      one(holder, 0, {}, { reserve: ['trace/held'], schedule: [{ stream: holder, kind: 'kept', due: { inSeconds: 60 } }] }),
    );
    const refused = one(
      holder,
      7,
      {},
      {
        release: ['trace/held'],
        reserve: ['trace/wanted'],
        cancel: [{ stream: holder, kind: 'kept' }],
        schedule: [{ stream: holder, kind: 'wanted', due: { inSeconds: 60 } }],
        idempotency: { scope: 'trace', key: 'k', inputHash: 'h' },
        commandId: 'trace/c',
      },
    );
    const results = await Promise.all(
      [one(newId('rev'), 0), one(other, 0), refused, one(newId('rev'), 0)].map((request) => store.append(request)),
    );
    expect(results.map((r) => r.status)).toEqual(['appended', 'appended', 'conflict', 'appended']);
    expect(await store.reservation('trace/held')).toBe(holder);
    expect(await store.reservation('trace/wanted')).toBeNull();
    expect(await store.idempotencyKey('trace', 'k')).toBeNull();
    const { rows } = await db.pool.query('select kind from event_store.timers where stream = $1', [uuidOf(holder)]);
    expect(rows).toEqual([{ kind: 'kept' }]);
    expect((await store.append(one(newId('rev'), 0, {}, { commandId: 'trace/c' }))).status).toBe('appended');
  });

  it('wake listeners once for each batch, and refused ones wake nobody', async () => {
    const listener = new pg.Client({ connectionString: db.appUrl });
    await listener.connect();
    const heard: (string | undefined)[] = [];
    listener.on('notification', (message) => heard.push(`${message.channel}:${message.payload}`));
    await listener.query('listen event_store');
    const stream = newId('rev');
    // The first goes alone; the others wait for it together.
    await Promise.all([store.append(one(stream, 0)), ...Array.from({ length: 15 }, () => store.append(one(newId('rev'), 0)))]);
    await store.append(one(stream, 0));
    await listener.query('select 1');
    expect(heard.length).toBeGreaterThanOrEqual(1);
    expect(heard.length).toBeLessThanOrEqual(2);
    expect(new Set(heard)).toEqual(new Set(['event_store:']));
    await listener.end();
  });

  it('that touch one stream are applied one after the other, in their order', async () => {
    const stream = newId('rev');
    const results = await Promise.all(Array.from({ length: 20 }, (_, i) => store.append(one(stream, i, { i }))));
    expect(results.every((r) => r.status === 'appended')).toBe(true);
    expect((await store.readStream(stream)).events.map((e) => (e.body as { i: number }).i)).toEqual(
      Array.from({ length: 20 }, (_, i) => i),
    );
  });
});
