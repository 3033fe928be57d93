/**
 * The store against a model of itself: random appends by several writers.
 *
 * One after the other, every answer and the whole outcome must be the model's. All at once, the appends that won, replayed in the order of
 * their positions, must be what the model would have appended, and every refusal must be one the model gives somewhere on that way.
 */

import { type TestDatabase, testDatabase } from '@countersign/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type AppendRequest, type AppendResult, newId, PostgresEventStore, uuidOf } from './index.js';

const CATEGORIES = { review: 'rev', person: 'per' };
const [PAST, FUTURE] = ['2000-01-01T00:00:00.000Z', '2100-01-01T00:00:00.000Z'];

interface ModelState {
  versions: Map<string, number>;
  holders: Map<string, string>;
  keys: Map<string, { inputHash: string; stream: string; version: number }>;
  /** `stream kind` → seconds, or the absolute time. */
  timers: Map<string, number | string>;
}

const emptyState = (): ModelState => ({ versions: new Map(), holders: new Map(), keys: new Map(), timers: new Map() });

function modelAnswer(state: ModelState, request: AppendRequest): AppendResult | { status: 'appended' } {
  const commands = request.commandId === undefined ? [] : [{ at: `command ${request.commandId}`, inputHash: '' }];
  const given = request.idempotency ? [{ at: `key ${request.idempotency.key}`, inputHash: request.idempotency.inputHash }] : [];
  for (const { at, inputHash } of [...given, ...commands]) {
    const found = state.keys.get(at);
    if (!found) continue;
    if (found.inputHash === inputHash) return { status: 'repeated', stream: found.stream, version: found.version, position: 0 };
    return { status: 'key_reused', stream: found.stream, version: found.version };
  }
  for (const part of request.streams) {
    const currentVersion = state.versions.get(part.stream) ?? 0;
    if (part.expectedVersion !== 'any' && part.expectedVersion !== currentVersion)
      return { status: 'conflict', stream: part.stream, currentVersion };
  }
  const streams = request.streams.map((part) => part.stream);
  for (const key of request.reserve ?? []) {
    const holder = state.holders.get(key);
    const released = request.release?.includes(key) && streams.includes(holder ?? '');
    if (holder !== undefined && holder !== streams[0] && !released) return { status: 'reserved', key, holder };
  }
  if (request.notAfter === PAST) return { status: 'too_late', now: '' };
  if (request.notBefore === FUTURE) return { status: 'too_early', now: '' };
  return { status: 'appended' };
}

function modelApply(state: ModelState, request: AppendRequest): void {
  for (const part of request.streams) state.versions.set(part.stream, (state.versions.get(part.stream) ?? 0) + part.events.length);
  const streams = request.streams.map((part) => part.stream);
  const stream = streams[0] as string;
  for (const key of request.release ?? []) if (streams.includes(state.holders.get(key) ?? '')) state.holders.delete(key);
  for (const key of request.reserve ?? []) state.holders.set(key, stream);
  const version = state.versions.get(stream) as number;
  if (request.idempotency) state.keys.set(`key ${request.idempotency.key}`, { inputHash: request.idempotency.inputHash, stream, version });
  if (request.commandId !== undefined) state.keys.set(`command ${request.commandId}`, { inputHash: '', stream, version });
  for (const timer of request.cancel ?? []) state.timers.delete(`${timer.stream} ${timer.kind}`);
  for (const timer of request.schedule ?? []) {
    state.timers.set(`${timer.stream} ${timer.kind}`, 'at' in timer.due ? timer.due.at : timer.due.inSeconds);
  }
}

/** Both sides without what the model does not know: positions, times, event ids. */
function bare(result: AppendResult | { status: 'appended' }): object {
  const { position: _, time: __, now: ___, streams, ...rest } = result as Record<string, unknown>;
  return rest;
}

const STREAMS = 5;
const request = fc.record({
  parts: fc.uniqueArray(
    fc.record({ stream: fc.nat(STREAMS - 1), expected: fc.oneof(fc.nat(4), fc.constant('any' as const)), events: fc.nat(3) }),
    {
      selector: (part) => part.stream,
      minLength: 1,
      maxLength: 3,
    },
  ),
  reserve: fc.uniqueArray(fc.nat(2), { maxLength: 2 }),
  release: fc.uniqueArray(fc.nat(2), { maxLength: 2 }),
  key: fc.option(fc.record({ key: fc.nat(3), hash: fc.nat(1) }), { freq: 4, nil: undefined }),
  command: fc.option(fc.nat(3), { freq: 4, nil: undefined }),
  timers: fc.array(fc.record({ stream: fc.nat(STREAMS - 1), kind: fc.nat(1), action: fc.constantFrom('cancel', 'in', 'at') }), {
    maxLength: 3,
  }),
  bound: fc.constantFrom('none', 'none', 'none', 'open', 'late', 'early'),
  /** Most writers decide on the version the stream has. */
  honest: fc.boolean(),
  writer: fc.nat(2),
});
type Drawn = typeof request extends fc.Arbitrary<infer T> ? T : never;

let db: TestDatabase;
let writers: PostgresEventStore[];
let run = 0;

beforeAll(async () => {
  db = await testDatabase();
  writers = Array.from({ length: 3 }, () => new PostgresEventStore({ pool: db.pool, writer: 'test', categories: CATEGORIES }));
});
afterAll(async () => {
  await Promise.all(writers.map((store) => store.close()));
  await db.close();
});

/** The names of one run: nothing of it meets another run's. */
function newWorld() {
  run += 1;
  const project = newId('prj');
  const streams = Array.from({ length: STREAMS }, (_, i) => newId(i === 0 ? 'per' : 'rev'));
  const name = (n: number) => `run ${run} ${n}`;
  const build = (drawn: Drawn, state?: ModelState): AppendRequest => {
    const parts = drawn.parts.map((part) => ({
      stream: streams[part.stream] as string,
      project,
      expectedVersion:
        drawn.honest && state && part.expected !== 'any' ? (state.versions.get(streams[part.stream] as string) ?? 0) : part.expected,
      events: Array.from({ length: part.events }, (_, i) => ({ type: `t${i}`, body: { n: i, run } })),
    }));
    if (parts.every((part) => part.events.length === 0)) parts[0]?.events.push({ type: 'only', body: { n: 0, run } });
    const timer = (t: Drawn['timers'][number]) => ({ stream: streams[t.stream] as string, kind: `k${t.kind}` });
    return {
      streams: parts,
      meta: { request_id: name(0) },
      reserve: drawn.reserve.map(name),
      release: drawn.release.map(name),
      ...(drawn.key ? { idempotency: { scope: project, key: name(drawn.key.key), inputHash: `h${drawn.key.hash}` } } : {}),
      ...(drawn.command === undefined ? {} : { commandId: name(drawn.command) }),
      cancel: drawn.timers.filter((t) => t.action === 'cancel').map(timer),
      schedule: drawn.timers
        .filter((t) => t.action !== 'cancel')
        .map((t) => ({ ...timer(t), due: t.action === 'in' ? { inSeconds: 60 + t.kind } : { at: FUTURE } })),
      ...(drawn.bound === 'late' ? { notAfter: PAST } : {}),
      ...(drawn.bound === 'early' ? { notBefore: FUTURE } : {}),
      ...(drawn.bound === 'open' ? { notBefore: PAST, notAfter: FUTURE } : {}),
    };
  };
  return { project, streams, name, build };
}

async function expectOutcome(state: ModelState, world: ReturnType<typeof newWorld>): Promise<void> {
  const store = writers[0] as PostgresEventStore;
  for (const stream of world.streams) {
    const { version, events } = await store.readStream(stream);
    expect(version).toBe(state.versions.get(stream) ?? 0);
    expect(events.map((e) => e.version)).toEqual(events.map((_, i) => i + 1));
    const { rows } = await db.pool.query(
      `select t.kind, t.due_at, e.time from event_store.timers t join event_store.events e on e.position = t.generation where t.stream = $1`,
      [uuidOf(stream)],
    );
    const expected = [...state.timers].filter(([key]) => key.startsWith(stream)).map(([key, due]) => [key.split(' ')[1], due]);
    const found = rows.map((row) => [
      row.kind,
      row.due_at.toISOString() === FUTURE ? FUTURE : (row.due_at.getTime() - row.time.getTime()) / 1_000,
    ]);
    expect(found.sort()).toEqual(expected.sort());
  }
  for (const n of [0, 1, 2]) expect(await store.reservation(world.name(n))).toBe(state.holders.get(world.name(n)) ?? null);
  for (const n of [0, 1, 2, 3]) {
    const kept = state.keys.get(`key ${world.name(n)}`);
    expect(await store.idempotencyKey(world.project, world.name(n))).toEqual(kept ?? null);
  }
}

describe('the store answers as its model', () => {
  it('one append after the other, by whichever writer', async () => {
    const seen = new Map<string, number>();
    await fc.assert(
      fc.asyncProperty(fc.array(request, { minLength: 1, maxLength: 25 }), async (drawn) => {
        const world = newWorld();
        const state = emptyState();
        for (const one of drawn) {
          const asked = world.build(one, state);
          const expected = modelAnswer(state, asked);
          const result = await (writers[one.writer] as PostgresEventStore).append(asked);
          expect(bare(result)).toEqual(bare(expected));
          seen.set(result.status, (seen.get(result.status) ?? 0) + 1);
          if (result.status === 'appended') {
            modelApply(state, asked);
            expect(result.streams.map((s) => [s.stream, s.version, s.events.length])).toEqual(
              asked.streams.map((s) => [s.stream, state.versions.get(s.stream), s.events.length]),
            );
          }
        }
        await expectOutcome(state, world);
      }),
      { numRuns: 40 },
    );
    // A model that never refuses would agree with a store that never does.
    for (const status of ['appended', 'repeated', 'key_reused', 'conflict', 'reserved', 'too_late', 'too_early'])
      expect(seen.get(status)).toBeGreaterThan(0);
    expect(await (writers[0] as PostgresEventStore).verify()).toMatchObject({ valid: true, firstBad: null });
  });

  it('all at once, in the order the positions give', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(request, { minLength: 5, maxLength: 40 }), async (drawn) => {
        const world = newWorld();
        const asked = drawn.map((one) => world.build(one));
        const results = await Promise.all(asked.map((one, i) => (writers[drawn[i]?.writer ?? 0] as PostgresEventStore).append(one)));
        const won = results
          .map((result, i) => ({ result, asked: asked[i] as AppendRequest }))
          .filter(({ result }) => result.status === 'appended')
          .sort((a, b) => (a.result as { position: number }).position - (b.result as { position: number }).position);
        const state = emptyState();
        const answers = asked.map((one) => [bare(modelAnswer(state, one))]);
        for (const { asked: next } of won) {
          expect(modelAnswer(state, next).status).toBe('appended');
          modelApply(state, next);
          for (const [i, one] of asked.entries()) answers[i]?.push(bare(modelAnswer(state, one)));
        }
        for (const [i, result] of results.entries()) if (result.status !== 'appended') expect(answers[i]).toContainEqual(bare(result));
        await expectOutcome(state, world);
      }),
      { numRuns: 30 },
    );
    expect(await (writers[0] as PostgresEventStore).verify()).toMatchObject({ valid: true, firstBad: null });
  });
});
