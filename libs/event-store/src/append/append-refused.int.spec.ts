import { type TestDatabase, testDatabase } from '@countersign/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type AppendRequest, InvalidAppendError, newId, PostgresEventStore } from '../index.js';
import { CATEGORIES, one, project } from './append.fixture.js';

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

describe('an append', () => {
  it('refuses at the caller what cannot be stored, and takes the neighbours', async () => {
    const stream = newId('rev');
    const bad: AppendRequest[] = [
      one(newId('rev'), 0, { text: 'a\u0000b' }),
      one(newId('rev'), 0, { text: 'a\ud800b' }),
      one(newId('rev'), 0, { n: Number.NaN }),
      one(newId('rev'), 0, new Map()),
      one(newId('rev'), -1),
      one(newId('rev'), 1.5),
      one('rev_nonsense', 0),
      one(newId('xyz'), 0),
      one(newId('rev'), 0, {}, { notAfter: 'tomorrow' }),
      one(newId('rev'), 0, {}, { notAfter: '2030-01-01T00:00:00.0001Z' }),
      one(newId('rev'), 0, {}, { reserve: ['a\u0000'] }),
      one(newId('rev'), 0, {}, { commandId: '' }),
      one(newId('rev'), 0, {}, { commandId: 'ü'.repeat(513) }),
      one(newId('rev'), 0, {}, { idempotency: { scope: ':command', key: 'k', inputHash: 'h' } }),
      one(newId('rev'), 0, {}, { schedule: [{ stream, kind: 'k', due: { inSeconds: Number.POSITIVE_INFINITY } }] }),
      one(newId('rev'), 0, {}, { schedule: [{ stream, kind: 'k', due: { at: '+275760-09-13T00:00:00.000Z' } }] }),
      { streams: [{ stream: newId('rev'), project, expectedVersion: 0, events: [] }], meta: {} },
      { streams: [], meta: {} },
      { streams: [one(stream, 0).streams[0], one(stream, 0).streams[0]] as never, meta: {} },
      { streams: [{ ...(one(newId('rev'), 0).streams[0] as AppendRequest['streams'][0]), project: 'nobody' }], meta: {} },
      one(newId('rev'), 0, {}, { meta: { request_id: 'a\u0000' } }),
    ];
    // As long as texts may be, two to an index entry.
    const longest = { scope: '𝄞'.repeat(256), key: '€'.repeat(341), inputHash: 'h' };
    expect((await store.append(one(newId('rev'), 0, {}, { idempotency: longest, reserve: ['€'.repeat(341)] }))).status).toBe('appended');
    const results = await Promise.allSettled([...bad.map((request) => store.append(request)), store.append(one(stream, 0))]);
    for (const result of results.slice(0, -1)) expect(result).toMatchObject({ status: 'rejected', reason: expect.any(InvalidAppendError) });
    expect(results.at(-1)).toMatchObject({ status: 'fulfilled', value: { status: 'appended' } });
  });

  it('asks the validator, which refuses by throwing', async () => {
    const strict = new PostgresEventStore({
      pool: db.pool,
      writer: 'test',
      categories: CATEGORIES,
      validate(type, version, body) {
        if (type !== 'happened' || version !== 1 || !(body as { ok?: boolean }).ok) throw new Error('not by its schema');
      },
    });
    await expect(strict.append(one(newId('rev'), 0, { ok: false }))).rejects.toThrow('not by its schema');
    expect((await strict.append(one(newId('rev'), 0, { ok: true }))).status).toBe('appended');
    await strict.close();
  });

  it('refused by PostgreSQL for one request of a batch takes nobody along', async () => {
    const taken = newId('rev');
    await store.append(one(taken, 0));
    const other = newId('prj');
    const requests = Array.from({ length: 9 }, () => one(newId('rev'), 0));
    requests[4] = { ...one(taken, 1), streams: [{ stream: taken, project: other, expectedVersion: 1, events: [{ type: 'x', body: {} }] }] };
    const results = await Promise.allSettled(requests.map((request) => store.append(request)));
    for (const [i, result] of results.entries()) {
      if (i === 4)
        expect(result).toMatchObject({ status: 'rejected', reason: { message: expect.stringContaining('another category or project') } });
      else expect(result).toMatchObject({ status: 'fulfilled', value: { status: 'appended' } });
    }
    expect((await store.verify()).valid).toBe(true);
  });

  it('by a writer who does not write that category is refused', async () => {
    const webhooks = new PostgresEventStore({ pool: db.pool, writer: 'webhooks', categories: CATEGORIES });
    await expect(webhooks.append(one(newId('rev'), 0))).rejects.toThrow('may not append');
    await webhooks.close();
  });
});
