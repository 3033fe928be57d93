import { type TestDatabase, testDatabase } from '@countersign/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { type AppendRequest, type AppendResult, InvalidAppendError, newId, PostgresEventStore, uuidOf } from './index.js';

const CATEGORIES = { review: 'rev', template: 'tpl', person: 'per' };
const project = newId('prj');
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

type Extra = Partial<AppendRequest>;
const one = (stream: string, expectedVersion: number | 'any', body: unknown = {}, extra: Extra = {}): AppendRequest => ({
  streams: [{ stream, project, expectedVersion, events: [{ type: 'happened', body }] }],
  meta: { request_id: 'req_1' },
  ...extra,
});
function appended(result: AppendResult): Extract<AppendResult, { status: 'appended' }> {
  if (result.status !== 'appended') throw new Error(`expected an append, got ${JSON.stringify(result)}`);
  return result;
}

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

  it('is judged by the database’s clock, to the millisecond', async () => {
    const stream = newId('rev');
    const { time } = appended(await store.append(one(stream, 0)));
    expect(await store.append(one(stream, 1, {}, { notAfter: time }))).toMatchObject({ status: 'too_late' });
    const hourLater = new Date(Date.parse(time) + 3_600_000).toISOString();
    const early = await store.append(one(stream, 1, {}, { notBefore: hourLater }));
    expect(early.status).toBe('too_early');
    expect('now' in early && Date.parse(early.now) < Date.parse(hourLater)).toBe(true);
    appended(await store.append(one(stream, 1, {}, { notAfter: hourLater, notBefore: time })));

    await db.advanceClock(3_600);
    const late = await store.append(one(stream, 2, {}, { notAfter: hourLater }));
    expect(late.status).toBe('too_late');
    expect('now' in late && Date.parse(late.now) >= Date.parse(hourLater)).toBe(true);
    expect(Date.parse(appended(await store.append(one(stream, 2, {}, { notBefore: hourLater }))).time)).toBeGreaterThanOrEqual(
      Date.parse(hourLater),
    );
  });

  it('never dates an event before the one at the position before it, whatever the clock does', async () => {
    await db.advanceClock(7_200);
    const { time } = appended(await store.append(one(newId('rev'), 0)));
    await db.advanceClock(-7_200);
    const after = appended(await store.append(one(newId('rev'), 0)));
    expect(after.time).toBe(time);
    // And a bound is held against that later time, not against the clock that went back.
    expect(await store.append(one(newId('rev'), 0, {}, { notAfter: time }))).toMatchObject({ status: 'too_late', now: time });
    await db.advanceClock(7_200);
  });

  it('keeps timers in step: schedules, replaces, cancels', async () => {
    const stream = newId('rev');
    const timers = async () =>
      (
        await db.pool.query(
          `select kind, (extract(epoch from due_at) * 1000)::bigint as due, generation, category, attempts, parked_reason from event_store.timers
           where stream = $1 order by kind`,
          [uuidOf(stream)],
        )
      ).rows;
    const first = appended(
      await store.append(
        one(
          stream,
          0,
          {},
          {
            schedule: [
              { stream, kind: 'expiry', due: { inSeconds: 90.5 } },
              { stream, kind: 'reminder', due: { at: '2030-01-02T03:04:05.678Z' } },
            ],
          },
        ),
      ),
    );
    expect(await timers()).toMatchObject([
      { kind: 'expiry', due: Date.parse(first.time) + 90_500, generation: first.position, category: 'review', attempts: 0 },
      { kind: 'reminder', due: Date.parse('2030-01-02T03:04:05.678Z') },
    ]);
    await db.pool.query(
      "update event_store.timers set attempts = 3, parked_at = event_store.now(), parked_reason = 'x' where stream = $1",
      [uuidOf(stream)],
    );
    const second = appended(
      await store.append(
        one(
          stream,
          1,
          {},
          {
            schedule: [{ stream, kind: 'expiry', due: { inSeconds: 5 } }],
            cancel: [
              { stream, kind: 'reminder' },
              { stream, kind: 'none' },
            ],
          },
        ),
      ),
    );
    expect(await timers()).toEqual([
      {
        kind: 'expiry',
        due: Date.parse(second.time) + 5_000,
        generation: second.position,
        category: 'review',
        attempts: 0,
        parked_reason: null,
      },
    ]);
    expect((await store.append(one(stream, 1, {}, { cancel: [{ stream, kind: 'expiry' }] }))).status).toBe('conflict');
    expect(await timers()).toHaveLength(1);
  });

  it('takes an event of a megabyte', async () => {
    const stream = newId('rev');
    const body = { text: 'ü'.repeat(500_000) };
    appended(await store.append(one(stream, 0, body)));
    expect((await store.readStream(stream)).events[0]?.body).toEqual(body);
  });

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
      one(newId('rev'), 0, {}, { commandId: 'ü'.repeat(501) }),
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
    const longest = { scope: '𝄞'.repeat(250), key: '€'.repeat(333), inputHash: 'h' };
    expect((await store.append(one(newId('rev'), 0, {}, { idempotency: longest, reserve: ['€'.repeat(333)] }))).status).toBe('appended');
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

  it('wake listeners once, and refused ones wake nobody', async () => {
    const listener = new pg.Client({ connectionString: db.appUrl });
    await listener.connect();
    const heard: (string | undefined)[] = [];
    listener.on('notification', (message) => heard.push(`${message.channel}:${message.payload}`));
    await listener.query('listen event_store');
    const stream = newId('rev');
    // The first goes alone; the others wait for it together.
    await Promise.all([store.append(one(stream, 0)), ...Array.from({ length: 30 }, () => store.append(one(newId('rev'), 0)))]);
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
});
