/** The queue under several claimers at once: whatever they do, the invariants of queue.ts hold and nothing is stuck. */

import { inTransaction } from '@countersign/database';
import type { Exchange } from '@countersign/egress';
import { newId, uuidOf } from '@countersign/event-store';
import { defaultSets, type TestDatabase, testDatabase } from '@countersign/testing';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { WEBHOOKS_MIGRATIONS } from '../migrations.js';
import { judge } from '../worker/verdict.js';
import { type Claimed, claim, enqueue, type NewDelivery, settle } from './queue.js';
import { expedite, requeue } from './requeue.js';

jest.setTimeout(60_000);

const POLICY = {
  backoff: [1_000, 5_000],
  jitterPercent: 0,
  retryAfterMax: 0,
  circuitFailures: 2,
  circuitMaxOpen: 4_000,
  endpointConcurrency: 3,
  lease: 10_000,
};

let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase({ sets: [...defaultSets(), WEBHOOKS_MIGRATIONS] });
});
afterAll(async () => {
  await db.close();
});

const project = uuidOf(newId('prj'));
const uuid = () => uuidOf(newId('whd'));
const delivery = (review: string, origin: string): NewDelivery => ({
  id: uuid(),
  project,
  review,
  event_type: 'review.decided',
  url: `http://${origin}.test/hook`,
  body: '{}',
  request_id: null,
});
const put = (...deliveries: NewDelivery[]) => inTransaction(db.pool, (tx) => enqueue(tx, deliveries, POLICY));
const exchange = (status: number | null): Exchange => ({
  status,
  retryAfterSeconds: null,
  excerpt: '',
  failure: status === null ? { stage: 'attempt', code: 'timeout', message: 'slow' } : null,
  latencyMs: 1,
});
const finish = (claimed: Claimed, status: number | null) => {
  const answer = exchange(status);
  return settle(
    db.pool,
    [{ claimed, exchange: answer, verdict: judge(answer, claimed.attempts - claimed.attempts_apart, POLICY, 0) }],
    POLICY,
  );
};

/** The rules that hold between any two transactions. */
async function invariants(): Promise<void> {
  const { rows } = await db.pool.query<{ broken: string }>(`
    with now as materialized (select event_store.now() as at),
    reviews as (
      select review, count(*) filter (where next_attempt_at is not null) as heads, count(*) filter (where lease is not null) as leased,
        min(sequence) as first, min(sequence) filter (where next_attempt_at is not null) as head
      from webhooks.deliveries where status = 'pending' group by review
    )
    select 'review without exactly one head, the first: ' || review as broken from reviews where heads <> 1 or head <> first or leased > 1
    union all
    select 'settled but due: ' || id from webhooks.deliveries where status <> 'pending' and (next_attempt_at is not null or lease is not null)
    union all
    select 'nothing will look at endpoint ' || e.id from webhooks.endpoints e
    where e.due_at is null and exists (select from webhooks.deliveries d where d.endpoint = e.id and d.status = 'pending')
    union all
    select 'too many running for endpoint ' || endpoint from webhooks.deliveries, now where lease is not null and next_attempt_at > now.at
    group by endpoint having count(*) > ${POLICY.endpointConcurrency}`);
  expect(rows.map((row) => row.broken)).toEqual([]);
}

describe('the queue', () => {
  it('holds its invariants under any interleaving, and everything comes to an end', async () => {
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.record({ do: fc.constant('enqueue' as const), review: fc.nat(5) }) },
      {
        weight: 6,
        arbitrary: fc.record({
          do: fc.constant('work' as const),
          status: fc.constantFrom(200, 200, 500, 410, 404, null),
          hold: fc.boolean(),
        }),
      },
      { weight: 2, arbitrary: fc.record({ do: fc.constant('wait' as const), seconds: fc.constantFrom(1, 3, 6, 11) }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constant('replay' as const), expedited: fc.boolean() }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constant('expedite' as const), nth: fc.nat(3) }) },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(step, { minLength: 1, maxLength: 4 }), { minLength: 3, maxLength: 15 }), async (rounds) => {
        await db.pool.query(
          'update webhooks.deliveries set status = $1, next_attempt_at = null, lease = null, expedited = false where status = $2',
          ['delivered', 'pending'],
        );
        await db.pool.query('update webhooks.endpoints set failures = 0, open_until = null, due_at = null');
        const reviews = Array.from({ length: 6 }, () => uuid());
        const held: Claimed[] = [];
        const leasedUntil = new Map<string, number>();
        const work = async (status: number | null, hold: boolean) => {
          const before = await databaseTime();
          const claims = await claim(db.pool, 4, POLICY);
          const after = await databaseTime();
          for (const one of claims) {
            expect(leasedUntil.get(one.id) ?? 0).toBeLessThanOrEqual(after);
            leasedUntil.set(one.id, before + POLICY.lease);
          }
          for (const one of claims) await (hold ? held.push(one) : end(one, status));
        };
        const end = async (one: Claimed, status: number | null) => {
          await finish(one, status);
          leasedUntil.delete(one.id);
        };
        const run = async (one: Step): Promise<void> => {
          if (one.do === 'enqueue') {
            // A review belongs to one endpoint.
            const review = reviews[one.review] as string;
            const origin = `origin-${one.review % 3}`;
            await put(delivery(review, origin), delivery(review, origin));
          } else if (one.do === 'work') await work(one.status, one.hold);
          else if (one.do === 'wait') await db.advanceClock(one.seconds);
          else if (one.do === 'replay') await replayAll(one.expedited);
          else await expediteOne(one.nth);
        };
        for (const round of rounds) {
          await Promise.all(round.map(run));
          await invariants();
          // Late results: their leases may have been given away meanwhile.
          if (held.length > 3) await Promise.all(held.splice(0, 2).map((one) => end(one, 200)));
        }
        for (let turn = 0; turn < 60 && (await pending()) > 0; turn++) {
          await work(200, false);
          await db.advanceClock(5);
          await invariants();
        }
        expect(await pending()).toBe(0);
      }),
      { numRuns: 12 },
    );
  });

  it('lets no more of an endpoint run at a time than it may, whoever claims', async () => {
    await put(...Array.from({ length: 10 }, () => delivery(uuid(), 'crowded')));
    const first = (await Promise.all([1, 2, 3].map(() => claim(db.pool, 100, POLICY)))).flat();
    expect(first).toHaveLength(POLICY.endpointConcurrency);
    expect(await claim(db.pool, 100, POLICY)).toEqual([]);
    await finish(first[0] as Claimed, 200);
    const next = await claim(db.pool, 100, POLICY);
    expect(next).toHaveLength(1);
    for (const one of [...first.slice(1), ...next]) await finish(one, 200);
    const counts: number[] = [];
    for (let turn = 0; turn < 3; turn++) {
      const claims = await claim(db.pool, 100, POLICY);
      counts.push(claims.length);
      for (const one of claims) await finish(one, 200);
    }
    expect(counts).toEqual([3, 3, 0]);
  });

  it('halves what may run with each failure and lets one through while the circuit is not closed', async () => {
    const { rows } =
      await db.pool.query(`select n, webhooks.attempts_allowed(n, null, 8) as closed, webhooks.attempts_allowed(n, now(), 8) as open
      from unnest(array[0, 1, 2, 3, 4, 1000]) n`);
    expect(rows.map((row) => [row.closed, row.open])).toEqual([
      [8, 1],
      [4, 1],
      [2, 1],
      [1, 1],
      [1, 1],
      [1, 1],
    ]);
  });

  it('opens the circuit after so many failures, for the delays of the table up to a bound', async () => {
    const { rows } =
      await db.pool.query(`select extract(epoch from webhooks.circuit_pause(n, 3, '{5000,30000,120000}', 60000))::int as pause
      from unnest(array[0, 2, 3, 4, 5, 6, 50]) n`);
    expect(rows.map((row) => row.pause)).toEqual([null, null, 5, 30, 60, 60, 60]);
  });

  it('closes the circuit with the first attempt that goes through, counts from there, and learns nothing from what says nothing', async () => {
    const all = Array.from({ length: 3 }, () => delivery(uuid(), 'news'));
    await put(...all);
    const endpoint = async () => {
      const { rows } = await db.pool.query(
        "select failures, open_until is null as closed from webhooks.endpoints where origin = 'http://news.test'",
      );
      return rows[0];
    };
    const [a, b, c] = [await claimed(all[0]?.id ?? ''), await claimed(all[1]?.id ?? ''), await claimed(all[2]?.id ?? '')];
    const result = (one: Claimed, status: number | null) => {
      const answer = exchange(status);
      return { claimed: one, exchange: answer, verdict: judge(answer, 1, POLICY, 0) };
    };
    await settle(db.pool, [result(a, 500), result(b, 500)], POLICY);
    expect(await endpoint()).toEqual({ failures: 2, closed: false });
    await settle(db.pool, [{ claimed: c, postponedMs: 0 }], POLICY);
    expect(await endpoint()).toEqual({ failures: 2, closed: false });
    await db.advanceClock(2);
    const next = await claim(db.pool, 1, POLICY);
    await settle(db.pool, [result(next[0] as Claimed, 500)], POLICY);
    expect(await endpoint()).toEqual({ failures: 3, closed: false });
    await db.advanceClock(6);
    const last = await claim(db.pool, 1, POLICY);
    await settle(db.pool, [result(last[0] as Claimed, 404)], POLICY);
    expect(await endpoint()).toEqual({ failures: 0, closed: true });
  });

  it('opens the circuit of one project, and another project’s deliveries to the same origin flow', async () => {
    const other = uuidOf(newId('prj'));
    const [first, second] = [delivery(uuid(), 'both'), delivery(uuid(), 'both')];
    await put(first, second);
    for (const one of [await claimed(first.id), await claimed(second.id)]) await finish(one, 500);
    expect(await claim(db.pool, 10, POLICY)).toEqual([]);
    const theirs = { ...delivery(uuid(), 'both'), project: other };
    await put(theirs);
    const flowing = await claim(db.pool, 10, POLICY);
    expect(flowing.map((one) => one.id)).toEqual([theirs.id]);
    await finish(flowing[0] as Claimed, 200);
    await db.advanceClock(60);
    for (const one of [first, second]) await finish(await claimed(one.id), 200);
  });

  it('gives two claimers nothing twice', async () => {
    await put(...Array.from({ length: 40 }, (_, n) => delivery(uuid(), `twice-${n % 10}`)));
    const claims = await Promise.all(Array.from({ length: 8 }, () => claim(db.pool, 10, POLICY)));
    const ids = claims.flat().map((one) => one.id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.length).toBeGreaterThan(0);
    for (const one of claims.flat()) await finish(one, 200);
  });

  it('ignores a result whose lease was given away, but keeps it in the log of attempts', async () => {
    const one = delivery(uuid(), 'late');
    await put(one);
    const first = await claimed(one.id);
    await db.advanceClock(11);
    const second = await claimed(one.id);
    expect(second).toMatchObject({ attempts: 2 });
    await finish(first, 200);
    const { rows } = await db.pool.query('select status, lease from webhooks.deliveries where id = $1', [one.id]);
    expect(rows).toEqual([{ status: 'pending', lease: second.lease }]);
    await finish(second, 500);
    const log = await db.pool.query('select number, outcome from webhooks.attempts where delivery = $1 order by number', [one.id]);
    expect(log.rows).toEqual([
      { number: 1, outcome: 'delivered' },
      { number: 2, outcome: 'failed' },
    ]);
  });

  it('tries a delivery that a new event hurries even while the circuit is open, and no other', async () => {
    const [first, second] = [delivery(uuid(), 'expedited'), delivery(uuid(), 'expedited')];
    await put(first, second);
    for (const one of [await claimed(first.id), await claimed(second.id)]) await finish(one, 500);
    expect(await claim(db.pool, 10, POLICY)).toEqual([]);
    await put(delivery(first.review, 'expedited'));
    const expedited = await claim(db.pool, 10, POLICY);
    expect(expedited.map((one) => one.id)).toEqual([first.id]);
    await finish(expedited[0] as Claimed, 200);
  });
});

type Step =
  | { do: 'enqueue'; review: number }
  | { do: 'work'; status: number | null; hold: boolean }
  | { do: 'wait'; seconds: number }
  | { do: 'replay'; expedited: boolean }
  | { do: 'expedite'; nth: number };

let taken: Claimed[] = [];
/** Claims until the delivery is among what was taken. */
async function claimed(id: string): Promise<Claimed> {
  taken.push(...(await claim(db.pool, 100, POLICY)));
  const found = taken.find((one) => one.id === id);
  if (!found) throw new Error('The delivery was not due.');
  taken = taken.filter((one) => one !== found);
  return found;
}

async function databaseTime(): Promise<number> {
  const { rows } = await db.pool.query<{ now: Date }>('select event_store.now() as now');
  return rows[0]?.now.getTime() ?? 0;
}

async function pending(): Promise<number> {
  const { rows } = await db.pool.query<{ n: number }>("select count(*) as n from webhooks.deliveries where status = 'pending'");
  return rows[0]?.n ?? 0;
}

async function replayAll(expedited: boolean): Promise<void> {
  const { rows } = await db.pool.query<{ id: string; replay: number }>(
    "select id, replays + 1 as replay from webhooks.deliveries where status = 'dead_lettered'",
  );
  await inTransaction(db.pool, (tx) => requeue(tx, rows, { ...POLICY, expedited }));
}

async function expediteOne(nth: number): Promise<void> {
  const { rows } = await db.pool.query<{ id: string }>(
    "select id from webhooks.deliveries where status = 'pending' order by sequence offset $1 limit 1",
    [nth],
  );
  if (rows[0]) await expedite(db.pool, rows[0].id, POLICY);
}
