/** What a process leaves undone that dies between two steps, and who does it then (recorder.ts O1, queue/requeue.ts). */

import { handle, idOf } from '@countersign/event-store';
import { PROJECT } from '@countersign/review/fixture';
import { Receiver } from '@countersign/testing';
import { afterEach, expect, it, jest } from '@jest/globals';
import { type Station, startStation, until } from '../fixture/station.js';
import { type Claimed, claim, settle } from '../queue/queue.js';
import { judge } from '../worker/verdict.js';
import { deliveryFold, replay } from './delivery.js';
import { recordOutcomes } from './recorder.js';

jest.setTimeout(30_000);

const POLICY = {
  backoff: [],
  jitterPercent: 0,
  retryAfterMax: 0,
  circuitFailures: 100,
  circuitMaxOpen: 1_000,
  endpointConcurrency: 8,
  lease: 60_000,
};

let station: Station;
let agent: Receiver;
afterEach(async () => {
  await station.close();
  await agent.close();
});

/** A delivery that was attempted and settled by a process that died before it did anything else. */
async function settledByTheDead(status: number): Promise<Claimed> {
  agent = await new Receiver().listen();
  station = await startStation();
  await station.pauseWorkers();
  const review = await station.approved(agent.url());
  await station.handleDecision(review);
  const [claimed] = (await claim(station.db.pool, 1, POLICY)) as [Claimed];
  const exchange = { status, retryAfterSeconds: null, excerpt: '', failure: null, latencyMs: 1 };
  await settle(station.db.pool, [{ claimed, exchange, verdict: judge(exchange, 1, POLICY, 0) }], POLICY);
  return claimed;
}

const outcomesOf = async (claimed: Claimed) =>
  (await station.outcomes()).filter((one) => one.stream === idOf('whd', claimed.id)).map((one) => one.type);

it('records an outcome the dead process left in the table', async () => {
  const claimed = await settledByTheDead(200);
  expect(await outcomesOf(claimed)).toEqual([]);
  await station.db.advanceClock(11);
  await station.startService();
  expect(
    await until(
      () => outcomesOf(claimed),
      (types) => types.length > 0,
    ),
  ).toEqual(['delivery.succeeded']);
});

it('sends a replay the dead process recorded and did not put in line', async () => {
  const claimed = await settledByTheDead(500);
  await recordOutcomes({ pool: station.db.pool, store: station.store }, 'all');
  await handle(station.store, {
    stream: idOf('whd', claimed.id),
    project: PROJECT,
    fold: deliveryFold,
    decide: (state) =>
      replay(state, {
        review_id: idOf('rev', claimed.review),
        event_type: claimed.event_type,
        by: { kind: 'person', id: 'per_01m8nygqtee4cv9fmzx2hmrxf8', email: 'ann@example.org' },
      }),
    meta: {},
  });
  await station.db.advanceClock(11);
  await station.startService();
  const id = idOf('whd', claimed.id);
  await until(
    () => agent.at().filter((one) => one.headers['x-webhook-id'] === id).length,
    (count) => count === 1,
  );
  expect(
    await until(
      () => outcomesOf(claimed),
      (types) => types.length === 3,
    ),
  ).toEqual(['delivery.dead_lettered', 'delivery.replayed', 'delivery.succeeded']);
});
