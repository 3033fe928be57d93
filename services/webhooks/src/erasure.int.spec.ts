/** What is left of a review's deliveries once the review was erased (K4, W8). */

import type { DeliveryDetail, DeliveryReplayed, ErrorBody } from '@countersign/contracts';
import { inTransaction } from '@countersign/database';
import { handle, idOf, redactStream, uuidOf } from '@countersign/event-store';
import { PROJECT } from '@countersign/review/fixture';
import { type Answer, Receiver, status, until } from '@countersign/testing';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type Server, startServer } from './fixture/server.js';
import { deliveryFold, replay } from './outcome/delivery.js';
import { requeue } from './queue/requeue.js';

const SECRET = /Hello|Dear all|who-is-asking|not for everybody/;
const LONG = { backoff: [3_600_000], jitterPercent: 0 };

let server: Server;
let agent: Receiver;
afterEach(async () => {
  await server.close();
  await agent.close();
});

async function begin(config: object = {}): Promise<void> {
  agent = await new Receiver().listen();
  server = await startServer({ config });
}

/** Erases a review, and waits until the service has heard of it. */
async function erase(review: string): Promise<void> {
  expect(await redactStream(server.db.ownerPool, { stream: review, reason: 'asked to be forgotten' })).toBeGreaterThan(0);
  await server.caughtUp();
}

/** Everything the tables hold of it. */
async function kept(review: string): Promise<string> {
  const { rows } = await server.db.ownerPool.query<{ row: string }>(
    `select jsonb_build_array(to_jsonb(d), to_jsonb(a), to_jsonb(e))::text as row
     from webhooks.deliveries d join webhooks.endpoints e on e.id = d.endpoint left join webhooks.attempts a on a.delivery = d.id
     where d.review = $1`,
    [uuidOf(review)],
  );
  expect(rows.length).toBeGreaterThan(0);
  return rows.map(({ row }) => row).join('\n');
}

const detail = async (id: string) => (await server.call<DeliveryDetail>('getDelivery', { params: { id } })).body;
const retry = async (id: string) => (await server.call<ErrorBody>('retryDelivery', { params: { id } })).body.error?.code;
const reasons = async (review: string) =>
  (await server.outcomes()).filter(({ body }) => body.review_id === review).map(({ body }) => body.reason ?? null);

describe('a delivery of an erased review', () => {
  it('that arrived keeps no bytes, no answer and no address, and what arrived stays so', async () => {
    await begin();
    const review = await server.approved(
      agent.url('/who-is-asking', (_, response) => void response.writeHead(200).end('not for everybody')),
    );
    const { id } = await server.head(review, (one) => one.status === 'delivered');
    await until(
      () => server.listed(`review_id=${review}&status=delivered`),
      (all) => all.length === 2,
    );
    expect(await kept(review)).toMatch(SECRET);
    await erase(review);
    expect(await kept(review)).not.toMatch(SECRET);
    expect(await detail(id)).toMatchObject({ status: 'delivered', body: null, url: new URL(agent.url()).origin });
    expect(await retry(id)).toBe('already_delivered');
    await server.replayLog();
    expect(await kept(review)).not.toMatch(SECRET);
  });

  it('that is a dead letter is not sent again, by itself or with the others', async () => {
    await begin({ backoff: [] });
    const failing: Answer = (_, response) => void response.writeHead(500).end('not for everybody');
    const review = await server.approved(agent.url('/who-is-asking', failing));
    const dead = await until(
      () => server.listed(`review_id=${review}&status=failed`),
      (all) => all.length === 2,
    );
    expect(await kept(review)).toMatch(SECRET);
    await erase(review);
    expect(await kept(review)).not.toMatch(SECRET);
    const received = agent.received.length;
    for (const { id } of dead) {
      expect(await retry(id)).toBe('delivery_erased');
      expect((await detail(id)).last_error).toBe('HTTP 500');
    }
    expect((await server.call<DeliveryReplayed>('replayDeliveries', { body: {} })).body.queued).toBe(0);
    expect(agent.received).toHaveLength(received);
  });

  it('that waits is dead-lettered, the log says why, and other reviews go on', async () => {
    await begin(LONG);
    let answers = status(500);
    const url = agent.url('/who-is-asking', (...request) => answers(...request));
    const [review, other] = [await server.approved(url), await server.approved(url)];
    for (const one of [review, other])
      await server.head(one, ({ attempts, next_attempt_at }) => attempts === 1 && next_attempt_at !== null);
    await erase(review);
    answers = status(200);
    // A process that dies between settling and recording leaves it to a sweep; so does the consumer that gives up what was erased.
    await server.db.advanceClock(3_700);
    await until(
      () => reasons(review),
      (all) => all.length === 2,
    );
    expect(await reasons(review)).toEqual(['review_erased', 'review_erased']);
    expect(await kept(review)).not.toMatch(SECRET);
    await server.head(other, (one) => one.status === 'delivered');
    expect(agent.at('/who-is-asking').filter(({ json }) => json.review_id === review)).toHaveLength(1);
  });

  it('that is being tried leaves nothing of what comes of it', async () => {
    await begin({ ...LONG, headersTimeout: 20_000 });
    const answering = Promise.withResolvers<void>();
    const review = await server.approved(
      agent.url('/who-is-asking', async (_, response) => {
        await answering.promise;
        response.writeHead(500).end('not for everybody');
      }),
    );
    await until(
      () => agent.received.length,
      (count) => count === 1,
    );
    await erase(review);
    answering.resolve();
    await server.pauseWorkers();
    expect(await kept(review)).not.toMatch(SECRET);
    expect(
      (
        await server.db.ownerPool.query('select 1 from webhooks.deliveries where review = $1 and status <> $2', [
          uuidOf(review),
          'dead_lettered',
        ])
      ).rows,
    ).toEqual([]);
  });

  it('whose replay was recorded before and not put in line ends once more', async () => {
    await begin({ backoff: [] });
    const review = await server.approved(agent.url('/who-is-asking', status(500)));
    const [one] = await until(
      () => server.listed(`review_id=${review}&status=failed`),
      (all) => all.length === 2,
    );
    const id = one?.id as string;
    await until(
      () => reasons(review),
      (all) => all.length === 2,
    );
    await erase(review);
    const by = { kind: 'person' as const, id: idOf('per', uuidOf(review)), email: 'ann@example.org' };
    await handle(server.store, {
      stream: id,
      project: PROJECT,
      fold: deliveryFold,
      decide: (state) => replay(state, { review_id: review, event_type: one?.event_type as string, by }),
      meta: {},
    });
    await inTransaction(server.db.pool, (tx) => requeue(tx, [{ id: uuidOf(id), replay: 1 }], { ...server.config, expedited: false }));
    expect(await detail(id)).toMatchObject({ status: 'failed', next_attempt_at: null });
    await server.db.advanceClock(11);
    await until(
      () => reasons(review),
      (all) => all.filter((reason) => reason === 'review_erased').length === 1,
    );
  });
});
