/** What a process leaves undone that dies between two steps, and who does it then (recorder.ts O1, queue/requeue.ts). */

import { handle, idOf } from '@countersign/event-store';
import { PROJECT } from '@countersign/review/fixture';
import { Receiver, until } from '@countersign/testing';
import { afterEach, expect, it } from '@jest/globals';
import { type Server, startServer } from '../fixture/server.js';
import { type Claimed, claim, settle } from '../queue/queue.js';
import { judge } from '../worker/verdict.js';
import { deliveryFold, replay } from './delivery.js';
import { recordOutcomes } from './recorder.js';

const POLICY = {
  backoff: [],
  jitterPercent: 0,
  retryAfterMax: 0,
  circuitFailures: 100,
  circuitMaxOpen: 1_000,
  endpointConcurrency: 8,
  lease: 60_000,
};

let server: Server;
let agent: Receiver;
afterEach(async () => {
  await server.close();
  await agent.close();
});

/** A delivery that was attempted and settled by a process that died before it did anything else. */
async function settledByTheDead(status: number): Promise<Claimed> {
  agent = await new Receiver().listen();
  server = await startServer();
  await server.pauseWorkers();
  const review = await server.approved(agent.url());
  await server.handleDecision(review);
  const [claimed] = (await claim(server.db.pool, 1, POLICY)) as [Claimed];
  const exchange = { status, retryAfterSeconds: null, excerpt: '', failure: null, latencyMs: 1 };
  await settle(server.db.pool, [{ claimed, exchange, verdict: judge(exchange, 1, POLICY, 0) }], POLICY);
  return claimed;
}

const outcomesOf = async (claimed: Claimed) =>
  (await server.outcomes()).filter((one) => one.stream === idOf('whd', claimed.id)).map((one) => one.type);

it('records an outcome the dead process left in the table', async () => {
  const claimed = await settledByTheDead(200);
  expect(await outcomesOf(claimed)).toEqual([]);
  await server.db.advanceClock(11);
  await server.startService();
  expect(
    await until(
      () => outcomesOf(claimed),
      (types) => types.length > 0,
    ),
  ).toEqual(['delivery.succeeded']);
});

it('sends a replay the dead process recorded and did not put in line', async () => {
  const claimed = await settledByTheDead(500);
  await recordOutcomes({ pool: server.db.pool, store: server.store }, 'all');
  await handle(server.store, {
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
  await server.db.advanceClock(11);
  await server.startService();
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
