/** The due rows against the model of them that simulations run on: the same random statements to both, one after the other. */
import { MemoryPool, mirror, RowLocks } from '@countersign/database/model';
import { newId, PostgresEventStore } from '@countersign/event-store';
import { MemoryLog } from '@countersign/event-store/model';
import { type TestDatabase, testDatabase } from '@countersign/testing';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { DueRows, type DueTimer } from '../due-rows.js';
import { dueRowStatements } from './model.js';

const CATEGORIES = { review: 'rev', person: 'per' };
const KINDS = ['timeout', 'timeout', 'reminder', 'other'] as const;

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

/** Times of either clock are left out; `due_at` is the same instant in other words. */
function bare(row: Record<string, unknown>): unknown {
  const {
    low: _,
    next_ms,
    due,
    parked_at: __,
    ...rest
  } = row as { low?: string; parked_at?: Date; next_ms?: number | null; due?: Record<string, unknown>[] };
  const timer = ({ late_ms: ___, due_at, ...told }: Record<string, unknown>) => ({ ...told, due_at: new Date(due_at as string).getTime() });
  const waits = next_ms === undefined ? {} : { waits: next_ms !== null };
  return { ...('due_at' in rest ? timer(rest) : rest), ...waits, ...(due && { due: due.map(timer) }) };
}

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('schedule' as const),
      kind: fc.constantFrom(...KINDS),
      seconds: fc.constantFrom(-120, -5, -1, 30, 3_600),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('claim' as const), limit: fc.constantFrom(1, 10), leaseMs: fc.constantFrom(0, 60_000) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom('remove' as const, 'fail' as const, 'put off' as const, 'park' as const),
      stale: fc.boolean(),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('unpark' as const, 'parked' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('later' as const) }) },
);

it('are claimed, put off, parked and removed as in the model', async () => {
  const seen = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 15, maxLength: 40 }), async (steps) => {
      await db.ownerPool.query('delete from event_store.timers');
      // The model's clock is PostgreSQL's, read when it matters: nothing here is due within a second of now.
      let clock = Date.parse((await store.head()).now);
      const log = new MemoryLog({ categories: CATEGORIES, now: () => clock });
      const reach = async <T>(_: string, work: () => T): Promise<T> => work();
      const memory = new MemoryPool({ statements: dueRowStatements(log, () => Date.now()), locks: new RowLocks(), reach });
      const rows = new DueRows(mirror(db.pool, memory, bare), { review: 'rev' }, ['timeout', 'reminder']);
      let taken: DueTimer[] = [];
      // No two are due at the same instant: which of them comes first is nobody's to say.
      let scheduled = 0;
      for (const one of steps) {
        if (one.do === 'schedule') {
          const [stream, project] = [newId(one.kind === 'reminder' ? 'per' : 'rev'), newId('prj')];
          const due = { at: new Date(Math.floor(clock) + one.seconds * 1000 + scheduled++).toISOString() };
          const kind = taken.length > 0 && one.seconds < 0 ? 'timeout' : one.kind;
          const schedule = [{ stream, kind, due }];
          const result = await store.append({
            streams: [{ stream, project, expectedVersion: 0, events: [{ type: 't', body: {} }] }],
            meta: {},
            schedule,
          });
          if (result.status !== 'appended') throw new Error(result.status);
          const row = {
            stream,
            kind,
            project,
            category: stream.startsWith('rev') ? 'review' : 'person',
            dueAt: Date.parse(due.at),
            generation: result.position,
          };
          log.timers.set(`${stream} ${kind}`, { ...row, attempts: 0, claimedUntil: null, parked: null });
        } else if (one.do === 'later') {
          await db.advanceClock(60);
          clock = Date.parse((await store.head()).now);
        } else if (one.do === 'claim') {
          const claimed = await rows.claim(one.limit, one.leaseMs);
          taken = [...taken, ...claimed.due];
          seen.set(claimed.due.length > 0 ? 'claimed' : 'none', 1);
        } else if (!('stale' in one)) {
          const [first] = await rows.parked();
          if (first) seen.set('parked', 1);
          if (first && one.do === 'unpark') expect(await rows.unpark(first.stream, first.kind)).toBe(true);
        } else {
          const timer = taken.shift();
          if (!timer) continue;
          const key = { ...timer, generation: timer.generation + (one.stale ? 1 : 0) };
          if (one.do === 'remove') await rows.remove([key]);
          else if (one.do === 'park') await rows.park(key, 'no reason');
          else await rows.putOff(key, one.do === 'fail' ? 0 : 60_000, one.do === 'fail');
          seen.set(one.do, 1);
        }
      }
      await rows.claim(100, 0);
      await rows.parked();
      // Past all of them by more than a second: what is due in an hour was scheduled only milliseconds ago.
      await db.advanceClock(3_700);
      clock = Date.parse((await store.head()).now);
      await rows.claim(100, 0);
    }),
    { numRuns: 60 },
  );
  expect([...seen.keys()].sort()).toEqual(['claimed', 'fail', 'none', 'park', 'parked', 'put off', 'remove']);
});
