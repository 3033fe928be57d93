/** How the outside learns of it. */
import { until } from '@countersign/platform/fixture';
import { failing } from '@countersign/testing';
import { expect } from '@jest/globals';
import { DRAFT } from '../server.js';
import { Stream } from '../stream.js';
import { hook, type Scenario } from './scenario.js';

/** A stream that breaks is taken up where it was: nothing is missed, nothing comes twice. */
export const stream: Scenario = async (server, moment) => {
  const first = await Stream.open(server.agent);
  const { id } = await server.ask({ priority: 'high' });
  await first.until((frame) => frame.type === 'review.urgent' && frame.review_id === id);
  await moment();
  await first.close();
  await server.admin.act(id, 'request_changes', { feedback: 'Shorter.' });
  await server.agent.do('resubmitReview', { path: { id }, body: { payload: DRAFT, version: 2 } });
  await server.admin.act(id, 'approve');
  const second = await Stream.open(server.agent, first.lastEventId);
  await second.until((frame) => frame.type === 'review.decided' && frame.review_id === id);
  const own = [...first.frames, ...second.frames].filter((frame) => frame.review_id === id);
  await second.close();
  const types = own.map((frame) => frame.type);
  expect(types.filter((type) => type === 'review.created')).toHaveLength(1);
  expect(types.filter((type) => type === 'review.retried')).toHaveLength(1);
  expect(types.filter((type) => type === 'review.decided')).toHaveLength(1);
  const ids = [...first.ids, ...second.ids];
  expect(new Set(ids).size).toBe(ids.length);
};

/** Five failures and then a success; then one that never succeeds, its dead letter, and its replay. */
export const failingDelivery: Scenario = async (server, moment) => {
  const path = hook();
  const { id } = await server.ask({ callback_url: server.receiver.url(path, failing(5)) });
  await server.agent.do('withdrawReview', { path: { id }, body: { reason: 'No longer needed.' } });
  await moment();
  const delivery = async (review: string) =>
    until('the delivery', async () => (await server.admin.do('listDeliveries', { query: { review_id: review } })).items[0]);
  /** Sets the clock forward by each delay in turn, until the delivery has ended. */
  const played = async (review: string) => {
    let waited: string | null = null;
    return until(`the delivery of ${review} to end`, async () => {
      const { status, last_attempt_at, next_attempt_at } = await delivery(review);
      if (status !== 'pending') return status;
      if (last_attempt_at !== null && next_attempt_at !== null && next_attempt_at !== waited) {
        waited = next_attempt_at;
        await server.topology.advanceClock((Date.parse(next_attempt_at) - Date.parse(last_attempt_at)) / 1000 + 1);
      }
      return false;
    });
  };
  expect(await played(id)).toBe('delivered');
  const tries = server.receiver.at(path);
  expect(tries.length).toBeGreaterThanOrEqual(6);
  expect(new Set(tries.map((one) => one.body.toString('hex'))).size).toBe(1);
  expect(new Set(tries.map((one) => one.headers['x-webhook-id'])).size).toBe(1);
  await moment();

  const dead = hook();
  const { id: other } = await server.ask({ callback_url: server.receiver.url(dead, failing(Number.POSITIVE_INFINITY)) });
  await server.agent.do('withdrawReview', { path: { id: other } });
  expect(await played(other)).toBe('failed');
  await until('the review to say so', async () => (await server.agent.review(other)).notification_delivery_failed);
  await moment();
  const before = server.receiver.at(dead).length;
  server.receiver.url(dead);
  const { id: letter } = await delivery(other);
  await server.admin.do('retryDelivery', { path: { id: letter } });
  expect(await played(other)).toBe('delivered');
  expect(server.receiver.at(dead).length).toBeGreaterThan(before);
  expect(new Set(server.receiver.at(dead).map((one) => one.body.toString('hex'))).size).toBe(1);
};
