/** The queue under several claimers at once: whatever they do, the invariants of queue.ts hold and nothing is stuck. */

import { inTransaction } from '@countersign/database';
import { until } from '@countersign/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { delivery, POLICY, QueueBench, uuid } from '../fixture/queue-bench.js';
import { type Claimed, claim, enqueue } from './queue.js';
import { expedite, requeue } from './requeue.js';

const bench = new QueueBench();
beforeAll(() => bench.open());
afterAll(() => bench.close());

/** The rules that hold between any two transactions. */
async function invariants(): Promise<void> {
  const { rows } = await bench.pool.query<{ broken: string }>(`
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
  it('hands out all it claims, also what was still being put in line as the claim began', async () => {
    const put = delivery(uuid(), 'meanwhile');
    const writer = await bench.pool.connect();
    await writer.query('begin; lock table webhooks.endpoints in access exclusive mode');
    await enqueue(writer, [put], POLICY);
    const claiming = claim(bench.pool, 100, POLICY);
    await until(
      async () => (await bench.pool.query("select from pg_locks where not granted and relation = 'webhooks.endpoints'::regclass")).rowCount,
      (waiting) => waiting === 1,
    );
    await writer.query('commit');
    writer.release();
    expect((await claiming).map(({ id }) => id)).toEqual([put.id]);
  });

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
        await bench.pool.query(
          'update webhooks.deliveries set status = $1, next_attempt_at = null, lease = null, expedited = false where status = $2',
          ['delivered', 'pending'],
        );
        await bench.pool.query('update webhooks.endpoints set failures = 0, open_until = null, due_at = null');
        const reviews = Array.from({ length: 6 }, () => uuid());
        const held: Claimed[] = [];
        const leasedUntil = new Map<string, number>();
        const work = async (status: number | null, hold: boolean) => {
          const before = await databaseTime();
          const claims = await claim(bench.pool, 4, POLICY);
          const after = await databaseTime();
          for (const one of claims) {
            expect(leasedUntil.get(one.id) ?? 0).toBeLessThanOrEqual(after);
            leasedUntil.set(one.id, before + POLICY.lease);
          }
          for (const one of claims) await (hold ? held.push(one) : end(one, status));
        };
        const end = async (one: Claimed, status: number | null) => {
          await bench.finish(one, status);
          leasedUntil.delete(one.id);
        };
        const run = async (one: Step): Promise<void> => {
          if (one.do === 'enqueue') {
            // A review belongs to one endpoint.
            const review = reviews[one.review] as string;
            const origin = `origin-${one.review % 3}`;
            await bench.put(delivery(review, origin), delivery(review, origin));
          } else if (one.do === 'work') await work(one.status, one.hold);
          else if (one.do === 'wait') await bench.db.advanceClock(one.seconds);
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
          await bench.db.advanceClock(5);
          await invariants();
        }
        expect(await pending()).toBe(0);
      }),
      { numRuns: 12 },
    );
  });
});

type Step =
  | { do: 'enqueue'; review: number }
  | { do: 'work'; status: number | null; hold: boolean }
  | { do: 'wait'; seconds: number }
  | { do: 'replay'; expedited: boolean }
  | { do: 'expedite'; nth: number };

async function databaseTime(): Promise<number> {
  const { rows } = await bench.pool.query<{ now: Date }>('select event_store.now() as now');
  return rows[0]?.now.getTime() ?? 0;
}

async function pending(): Promise<number> {
  const { rows } = await bench.pool.query<{ n: number }>("select count(*) as n from webhooks.deliveries where status = 'pending'");
  return rows[0]?.n ?? 0;
}

async function replayAll(expedited: boolean): Promise<void> {
  const { rows } = await bench.pool.query<{ id: string; replay: number }>(
    "select id, replays + 1 as replay from webhooks.deliveries where status = 'dead_lettered'",
  );
  await inTransaction(bench.pool, (tx) => requeue(tx, rows, { ...POLICY, expedited }));
}

async function expediteOne(nth: number): Promise<void> {
  const { rows } = await bench.pool.query<{ id: string }>(
    "select id from webhooks.deliveries where status = 'pending' order by sequence offset $1 limit 1",
    [nth],
  );
  if (rows[0]) await expedite(bench.pool, rows[0].id, POLICY);
}
