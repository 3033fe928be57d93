/** Who gets what from the queue, how much at a time, and what becomes of a result that is late. */

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { delivery, POLICY, QueueBench, uuid } from '../fixture/queue-bench.js';
import { type Claimed, claim } from './queue.js';

const bench = new QueueBench();
beforeAll(() => bench.open());
afterAll(() => bench.close());

describe('the queue', () => {
  it('lets no more of an endpoint run at a time than it may, whoever claims', async () => {
    await bench.put(...Array.from({ length: 10 }, () => delivery(uuid(), 'crowded')));
    const first = (await Promise.all([1, 2, 3].map(() => claim(bench.pool, 100, POLICY)))).flat();
    expect(first).toHaveLength(POLICY.endpointConcurrency);
    expect(await claim(bench.pool, 100, POLICY)).toEqual([]);
    await bench.finish(first[0] as Claimed, 200);
    const next = await claim(bench.pool, 100, POLICY);
    expect(next).toHaveLength(1);
    for (const one of [...first.slice(1), ...next]) await bench.finish(one, 200);
    const counts: number[] = [];
    for (let turn = 0; turn < 3; turn++) {
      const claims = await claim(bench.pool, 100, POLICY);
      counts.push(claims.length);
      for (const one of claims) await bench.finish(one, 200);
    }
    expect(counts).toEqual([3, 3, 0]);
  });

  it('gives two claimers nothing twice', async () => {
    await bench.put(...Array.from({ length: 40 }, (_, n) => delivery(uuid(), `twice-${n % 10}`)));
    const claims = await Promise.all(Array.from({ length: 8 }, () => claim(bench.pool, 10, POLICY)));
    const ids = claims.flat().map((one) => one.id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.length).toBeGreaterThan(0);
    for (const one of claims.flat()) await bench.finish(one, 200);
  });

  it('ignores a result whose lease was given away, but keeps it in the log of attempts', async () => {
    const one = delivery(uuid(), 'late');
    await bench.put(one);
    const first = await bench.claimed(one.id);
    await bench.db.advanceClock(11);
    const second = await bench.claimed(one.id);
    expect(second).toMatchObject({ attempts: 2 });
    await bench.finish(first, 200);
    const { rows } = await bench.pool.query('select status, lease from webhooks.deliveries where id = $1', [one.id]);
    expect(rows).toEqual([{ status: 'pending', lease: second.lease }]);
    await bench.finish(second, 500);
    const log = await bench.pool.query('select number, outcome from webhooks.attempts where delivery = $1 order by number', [one.id]);
    expect(log.rows).toEqual([
      { number: 1, outcome: 'delivered' },
      { number: 2, outcome: 'failed' },
    ]);
  });
});
