/** An endpoint that fails: fewer attempts at a time, then none but one, until the first that goes through. */

import { newId, uuidOf } from '@countersign/event-store';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { delivery, exchange, POLICY, QueueBench, uuid } from '../fixture/queue-bench.js';
import { judge } from '../worker/verdict.js';
import { type Claimed, claim, settle } from './queue.js';

const bench = new QueueBench();
beforeAll(() => bench.open());
afterAll(() => bench.close());

describe('the circuit of an endpoint', () => {
  it('halves what may run with each failure and lets one through while it is not closed', async () => {
    const { rows } =
      await bench.pool.query(`select n, webhooks.attempts_allowed(n, null, 8) as closed, webhooks.attempts_allowed(n, now(), 8) as open
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

  it('opens after so many failures, for the delays of the table up to a bound', async () => {
    const { rows } =
      await bench.pool.query(`select extract(epoch from webhooks.circuit_pause(n, 3, '{5000,30000,120000}', 60000))::int as pause
      from unnest(array[0, 2, 3, 4, 5, 6, 50]) n`);
    expect(rows.map((row) => row.pause)).toEqual([null, null, 5, 30, 60, 60, 60]);
  });

  it('closes with the first attempt that goes through, counts from there, and learns nothing from what says nothing', async () => {
    const all = Array.from({ length: 3 }, () => delivery(uuid(), 'news'));
    await bench.put(...all);
    const endpoint = async () => {
      const { rows } = await bench.pool.query(
        "select failures, open_until is null as closed from webhooks.endpoints where origin = 'http://news.test'",
      );
      return rows[0];
    };
    const [a, b, c] = [await bench.claimed(all[0]?.id ?? ''), await bench.claimed(all[1]?.id ?? ''), await bench.claimed(all[2]?.id ?? '')];
    const result = (one: Claimed, status: number | null) => {
      const answer = exchange(status);
      return { claimed: one, exchange: answer, verdict: judge(answer, 1, POLICY, 0) };
    };
    await settle(bench.pool, [result(a, 500), result(b, 500)], POLICY);
    expect(await endpoint()).toEqual({ failures: 2, closed: false });
    await settle(bench.pool, [{ claimed: c, postponedMs: 0 }], POLICY);
    expect(await endpoint()).toEqual({ failures: 2, closed: false });
    await bench.db.advanceClock(2);
    const next = await claim(bench.pool, 1, POLICY);
    await settle(bench.pool, [result(next[0] as Claimed, 500)], POLICY);
    expect(await endpoint()).toEqual({ failures: 3, closed: false });
    await bench.db.advanceClock(6);
    const last = await claim(bench.pool, 1, POLICY);
    await settle(bench.pool, [result(last[0] as Claimed, 404)], POLICY);
    expect(await endpoint()).toEqual({ failures: 0, closed: true });
  });

  it('opens for one project, and another project’s deliveries to the same origin flow', async () => {
    const other = uuidOf(newId('prj'));
    const [first, second] = [delivery(uuid(), 'both'), delivery(uuid(), 'both')];
    await bench.put(first, second);
    for (const one of [await bench.claimed(first.id), await bench.claimed(second.id)]) await bench.finish(one, 500);
    expect(await claim(bench.pool, 10, POLICY)).toEqual([]);
    const theirs = { ...delivery(uuid(), 'both'), project: other };
    await bench.put(theirs);
    const flowing = await claim(bench.pool, 10, POLICY);
    expect(flowing.map((one) => one.id)).toEqual([theirs.id]);
    await bench.finish(flowing[0] as Claimed, 200);
    await bench.db.advanceClock(60);
    for (const one of [first, second]) await bench.finish(await bench.claimed(one.id), 200);
  });

  it('lets through a delivery that a new event hurries even while it is open, and no other', async () => {
    const [first, second] = [delivery(uuid(), 'expedited'), delivery(uuid(), 'expedited')];
    await bench.put(first, second);
    for (const one of [await bench.claimed(first.id), await bench.claimed(second.id)]) await bench.finish(one, 500);
    expect(await claim(bench.pool, 10, POLICY)).toEqual([]);
    await bench.put(delivery(first.review, 'expedited'));
    const expedited = await claim(bench.pool, 10, POLICY);
    expect(expedited.map((one) => one.id)).toEqual([first.id]);
    await bench.finish(expedited[0] as Claimed, 200);
  });
});
