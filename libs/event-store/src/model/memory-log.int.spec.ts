/**
 * The store against the model of itself that simulations run on: random appends by several writers, the same ones to both.
 *
 * One after the other, every answer and the whole outcome must be the model's. All at once, the appends that won, replayed in the order of
 * their positions, must be what the model would have appended, and every refusal must be one the model gives somewhere on that way.
 */
import { type TestDatabase, testDatabase } from '@countersign/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type AppendRequest, type AppendResult, newId, PostgresEventStore, type StoredEvent, uuidOf } from '../index.js';
import { MemoryLog } from './model.js';

const CATEGORIES = { review: 'rev', person: 'per' };
const [PAST, FUTURE] = ['2000-01-01T00:00:00.000Z', '2100-01-01T00:00:00.000Z'];

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
  /** `head`, `newest`: the time of the newest event is past for the one bound and reached for the other. */
  bound: fc.constantFrom('none', 'none', 'none', 'none', 'open', 'late', 'early', 'head', 'newest'),
  /** Most writers decide on the version the stream has. */
  honest: fc.boolean(),
  writer: fc.nat(2),
});
type Drawn = typeof request extends fc.Arbitrary<infer T> ? T : never;

let db: TestDatabase;
let writers: PostgresEventStore[];
let run = 0;
/** Follows the database's, so that both date alike. */
let clock = Date.parse('2020-01-01T00:00:00.000Z');
const log = new MemoryLog({ categories: CATEGORIES, now: () => clock });

beforeAll(async () => {
  db = await testDatabase();
  writers = Array.from({ length: 3 }, () => new PostgresEventStore({ pool: db.pool, writer: 'test', categories: CATEGORIES }));
});
afterAll(async () => {
  await Promise.all(writers.map((store) => store.close()));
  await db.close();
});

const writer = (one: Pick<Drawn, 'writer'>) => writers[one.writer] as PostgresEventStore;
const store = () => writers[0] as PostgresEventStore;

/** The model's answer once the database has given its own. */
function modelled(asked: AppendRequest, result: AppendResult): AppendResult {
  if (result.status === 'appended') clock = Date.parse(result.time);
  return log.append(asked);
}

/** An answer without what each side makes up for itself: ids of events, and the time of a refusal. */
function bare(result: AppendResult): object {
  if (result.status === 'appended') return { ...result, streams: result.streams.map((s) => ({ ...s, events: s.events.map(event) })) };
  const { now: _, ...rest } = result as { now?: string };
  return rest;
}
const event = ({ id: _, ...rest }: StoredEvent): object => rest;

/** The names of one run: nothing of it meets another run's. */
function newWorld() {
  run += 1;
  const project = newId('prj');
  const streams = Array.from({ length: STREAMS }, (_, i) => newId(i === 0 ? 'per' : 'rev'));
  const name = (n: number) => `run ${run} ${n}`;
  const build = (drawn: Drawn): AppendRequest => {
    const parts = drawn.parts.map((part) => ({
      stream: streams[part.stream] as string,
      project,
      expectedVersion: drawn.honest && part.expected !== 'any' ? log.readStream(streams[part.stream] as string).version : part.expected,
      events: Array.from({ length: part.events }, (_, i) => ({ type: `t${i}`, body: { n: i, run } })),
    }));
    if (parts.every((part) => part.events.length === 0)) parts[0]?.events.push({ type: 'only', body: { n: 0, run } });
    const timer = (t: Drawn['timers'][number]) => ({ stream: streams[t.stream] as string, kind: `k${t.kind}` });
    const newest = log.events.at(-1)?.time ?? PAST;
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
      ...(drawn.bound === 'head' ? { notAfter: newest } : {}),
      ...(drawn.bound === 'newest' ? { notBefore: newest } : {}),
    };
  };
  return { project, streams, name, build };
}

async function expectOutcome(world: ReturnType<typeof newWorld>): Promise<void> {
  for (const stream of world.streams) {
    const read = await store().readStream(stream);
    const model = log.readStream(stream);
    expect([read.version, read.project, read.events.map(event)]).toEqual([model.version, model.project, model.events.map(event)]);
    expect((await store().readStream(stream, { upToVersion: 1 })).events.length).toBe(log.readStream(stream, 1).events.length);
    const { rows } = await db.pool.query(
      'select category, kind, project, due_at, generation, attempts, claimed_until, parked_at from event_store.timers where stream = $1',
      [uuidOf(stream)],
    );
    const found = rows.map((row) => ({ ...row, due_at: row.due_at.getTime() }));
    const kept = [...log.timers.values()].filter((timer) => timer.stream === stream);
    const expected = kept.map(({ category, kind, project, dueAt, generation, attempts, claimedUntil, parked }) => {
      const at = { due_at: dueAt, generation, attempts, claimed_until: claimedUntil, parked_at: parked };
      return { category, kind, project: uuidOf(project), ...at };
    });
    const byKind = (a: { kind: string }, b: { kind: string }) => (a.kind < b.kind ? -1 : 1);
    expect(found.sort(byKind)).toEqual(expected.sort(byKind));
  }
  for (const n of [0, 1, 2]) expect(await store().reservation(world.name(n))).toBe(log.reservation(world.name(n)));
  for (const n of [0, 1, 2, 3]) {
    expect(await store().idempotencyKey(world.project, world.name(n))).toEqual(log.idempotencyKey(world.project, world.name(n)));
  }
}

/** Pages of every kind, from somewhere in the log. */
async function expectPages(): Promise<void> {
  expect((await store().head()).position).toBe(log.head().position);
  for (const filter of [
    {},
    { categories: ['person'] },
    { bucket: [0, 3, 7] },
    { categories: ['review'], project: log.events.at(-1)?.project },
  ]) {
    for (const bounds of [{ limit: 7 }, { limit: 50, maxBytes: 300 }, { limit: 50, maxBytes: 1 }]) {
      const page = { after: Math.floor(log.events.length / 2), ...filter, ...bounds };
      expect((await store().readAll(page)).map(event)).toEqual(log.readAll(page).map(event));
    }
  }
}

describe('the store answers as its model', () => {
  it('one append after the other, by whichever writer', async () => {
    const seen = new Map<string, number>();
    await fc.assert(
      fc.asyncProperty(fc.array(request, { minLength: 1, maxLength: 25 }), async (drawn) => {
        const world = newWorld();
        for (const one of drawn) {
          const asked = world.build(one);
          const result = await writer(one).append(asked);
          expect(bare(modelled(asked, result))).toEqual(bare(result));
          seen.set(result.status, (seen.get(result.status) ?? 0) + 1);
        }
        await expectOutcome(world);
        await expectPages();
      }),
      { numRuns: 40 },
    );
    // A model that never refuses would agree with a store that never does.
    for (const status of ['appended', 'repeated', 'key_reused', 'conflict', 'reserved', 'too_late', 'too_early'])
      expect(seen.get(status)).toBeGreaterThan(0);
    expect(await store().verify()).toMatchObject({ valid: true, firstBad: null });
  });

  it('all at once, in the order the positions give', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(request, { minLength: 5, maxLength: 40 }), async (drawn) => {
        const world = newWorld();
        const asked = drawn.map((one) => world.build({ ...one, honest: false }));
        const results = await Promise.all(asked.map((one, i) => writer(drawn[i] as Drawn).append(one)));
        const won = results
          .map((result, i) => ({ result, asked: asked[i] as AppendRequest }))
          .filter(({ result }) => result.status === 'appended')
          .sort((a, b) => (a.result as { position: number }).position - (b.result as { position: number }).position);
        const refusals = asked.map((one) => [log.refusal(one)]);
        for (const { asked: next, result } of won) {
          expect(bare(modelled(next, result))).toEqual(bare(result));
          for (const [i, one] of asked.entries()) refusals[i]?.push(log.refusal(one));
        }
        for (const [i, result] of results.entries()) {
          if (result.status !== 'appended') expect(refusals[i]?.map((refusal) => refusal && bare(refusal))).toContainEqual(bare(result));
        }
        await expectOutcome(world);
      }),
      { numRuns: 30 },
    );
    expect(await store().verify()).toMatchObject({ valid: true, firstBad: null });
  });

  it('and refuses a stream that comes back under another project', async () => {
    const stream = newId('rev');
    const asked = (project: string): AppendRequest => ({
      streams: [{ stream, project, expectedVersion: 'any', events: [{ type: 'happened', body: {} }] }],
      meta: {},
    });
    const first = asked(newId('prj'));
    const result = await store().append(first);
    expect(bare(modelled(first, result))).toEqual(bare(result));
    const second = asked(newId('prj'));
    await expect(store().append(second)).rejects.toThrow('another category or project');
    expect(() => log.append(second)).toThrow('another category or project');
  });
});
