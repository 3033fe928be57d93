import { type TestDatabase, testDatabase } from '@countersign/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type AppendRequest, newId, PostgresEventStore, uuidOf } from '../index.js';
import { appended, CATEGORIES, one, project } from './append.fixture.js';

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
  it('gives back the events as they are read later', async () => {
    const stream = newId('rev');
    const result = appended(
      await store.append({
        streams: [
          {
            stream,
            project,
            expectedVersion: 0,
            events: [
              { type: 'asked', body: { b: 'zwölf', a: [1, null, true], skipped: undefined } },
              { type: 'seen', schemaVersion: 3, body: 'a text' },
            ],
          },
        ],
        meta: { actor: { kind: 'agent', id: 'key_x', label: undefined }, labels: { template_slug: 'deploy' } },
      }),
    );
    const [first, second] = result.streams[0]?.events ?? [];
    expect(first).toMatchObject({ stream, category: 'review', version: 1, project, shard: 0, schemaVersion: 1, redacted: false });
    expect(first?.body).toStrictEqual({ b: 'zwölf', a: [1, null, true] });
    expect(first?.meta).toStrictEqual({ actor: { kind: 'agent', id: 'key_x' }, labels: { template_slug: 'deploy' } });
    expect(second).toMatchObject({ version: 2, schemaVersion: 3, body: 'a text', position: (first?.position ?? 0) + 1 });
    expect(result).toMatchObject({ position: second?.position, time: first?.time });
    expect(first?.time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

    const read = await store.readStream(stream);
    expect(read.events).toStrictEqual(result.streams[0]?.events);
    expect(read).toMatchObject({ version: 2, project });
    const { rows } = await db.pool.query('select body from event_store.events where stream = $1 and version = 1', [uuidOf(stream)]);
    expect(rows[0].body).toBe('{"a":[1,null,true],"b":"zwölf"}');
  });

  it('is refused with the version the stream has', async () => {
    const stream = newId('rev');
    await store.append(one(stream, 0));
    await store.append(one(stream, 1));
    const positionBefore = (await store.head()).position;
    expect(await store.append(one(stream, 0))).toStrictEqual({ status: 'conflict', stream, currentVersion: 2 });
    expect(await store.append(one(stream, 1))).toStrictEqual({ status: 'conflict', stream, currentVersion: 2 });
    expect(await store.append(one(stream, 7))).toStrictEqual({ status: 'conflict', stream, currentVersion: 2 });
    const missing = newId('rev');
    expect(await store.append(one(missing, 1))).toStrictEqual({ status: 'conflict', stream: missing, currentVersion: 0 });
    expect((await store.head()).position).toBe(positionBefore);
    expect(appended(await store.append(one(stream, 'any'))).streams[0]?.version).toBe(3);
    expect(appended(await store.append(one(newId('rev'), 'any'))).streams[0]?.version).toBe(1);
  });

  it('spans streams all or nothing, also with a stream it only checks', async () => {
    const [a, b, c] = [newId('rev'), newId('tpl'), newId('rev')];
    await store.append(one(b, 0));
    const both = (versionOfB: number): AppendRequest => ({
      streams: [
        { stream: a, project, expectedVersion: 0, events: [{ type: 'x', body: 1 }] },
        { stream: b, project, expectedVersion: versionOfB, events: [{ type: 'y', body: 2 }] },
        { stream: c, project, expectedVersion: 0, events: [] },
      ],
      meta: {},
    });
    expect(await store.append(both(0))).toStrictEqual({ status: 'conflict', stream: b, currentVersion: 1 });
    expect((await store.readStream(a)).version).toBe(0);
    const result = appended(await store.append(both(1)));
    expect(result.streams.map((s) => [s.stream, s.version, s.events.length])).toEqual([
      [a, 1, 1],
      [b, 2, 1],
      [c, 0, 0],
    ]);
    expect((await store.readStream(c)).version).toBe(0);
    await store.append(one(c, 0));
    expect(
      await store.append({ ...both(2), streams: [{ ...both(2).streams[1], expectedVersion: 2 }, both(2).streams[2]] as never }),
    ).toStrictEqual({
      status: 'conflict',
      stream: c,
      currentVersion: 1,
    });
  });

  it('with a known idempotency key is repeated, or refused when the input differs', async () => {
    const [first, second] = [newId('rev'), newId('rev')];
    const idempotency = { scope: project, key: 'order-1', inputHash: 'sha256:aa' };
    const result = appended(await store.append(one(first, 0, {}, { idempotency })));
    await store.append(one(first, 1));
    expect(await store.append(one(second, 0, {}, { idempotency }))).toStrictEqual({
      status: 'repeated',
      stream: first,
      version: 1,
      position: result.position,
    });
    expect(await store.append(one(second, 0, {}, { idempotency: { ...idempotency, inputHash: 'sha256:bb' } }))).toStrictEqual({
      status: 'key_reused',
      stream: first,
      version: 1,
    });
    expect(appended(await store.append(one(second, 0, {}, { idempotency: { ...idempotency, scope: newId('prj') } }))).status).toBe(
      'appended',
    );
    expect(await store.idempotencyKey(project, 'order-1')).toStrictEqual({ stream: first, version: 1, inputHash: 'sha256:aa' });
    expect(await store.idempotencyKey(project, 'order-2')).toBeNull();
  });

  it('keeps no idempotency key of a refused request', async () => {
    const stream = newId('rev');
    const idempotency = { scope: project, key: 'order-3', inputHash: 'sha256:aa' };
    expect((await store.append(one(stream, 4, {}, { idempotency, commandId: 'c-3' }))).status).toBe('conflict');
    expect(await store.idempotencyKey(project, 'order-3')).toBeNull();
    expect((await store.append(one(stream, 0, {}, { idempotency, commandId: 'c-3' }))).status).toBe('appended');
  });

  it('with a known command id is repeated, whatever it holds', async () => {
    const stream = newId('rev');
    const result = appended(await store.append(one(stream, 0, { n: 1 }, { commandId: 'timeout/1' })));
    expect(await store.append(one(newId('rev'), 0, { n: 2 }, { commandId: 'timeout/1' }))).toStrictEqual({
      status: 'repeated',
      stream,
      version: 1,
      position: result.position,
    });
  });

  it('reserves keys for its first stream, and says who holds one', async () => {
    const [anna, bob] = [newId('per'), newId('per')];
    appended(await store.append(one(anna, 0, {}, { reserve: ['email/a@x', 'slug/a'] })));
    expect(await store.append(one(bob, 0, {}, { reserve: ['email/b@x', 'email/a@x'] }))).toStrictEqual({
      status: 'reserved',
      key: 'email/a@x',
      holder: anna,
    });
    expect(await store.reservation('email/b@x')).toBeNull();
    appended(await store.append(one(anna, 1, {}, { reserve: ['email/a@x'] })));
    expect(await store.reservation('email/a@x')).toBe(anna);

    // Somebody else cannot release it; its holder can.
    appended(await store.append(one(bob, 0, {}, { release: ['email/a@x'] })));
    expect(await store.reservation('email/a@x')).toBe(anna);
    appended(await store.append(one(anna, 2, {}, { release: ['email/a@x'], reserve: ['email/a2@x'] })));
    expect(await store.reservation('email/a@x')).toBeNull();
    appended(await store.append(one(bob, 1, {}, { reserve: ['email/a@x'] })));
    expect(await store.reservation('email/a@x')).toBe(bob);
  });

  it('moves a key between two of its streams', async () => {
    const [from, to] = [newId('per'), newId('per')];
    appended(await store.append(one(from, 0, {}, { reserve: ['last-admin'] })));
    const move: AppendRequest = {
      streams: [
        { stream: to, project, expectedVersion: 0, events: [{ type: 'x', body: {} }] },
        { stream: from, project, expectedVersion: 1, events: [{ type: 'x', body: {} }] },
      ],
      meta: {},
      release: ['last-admin'],
      reserve: ['last-admin'],
    };
    appended(await store.append(move));
    expect(await store.reservation('last-admin')).toBe(to);
  });

  it('takes an event of a megabyte', async () => {
    const stream = newId('rev');
    const body = { text: 'ü'.repeat(500_000) };
    appended(await store.append(one(stream, 0, body)));
    expect((await store.readStream(stream)).events[0]?.body).toEqual(body);
  });
});
