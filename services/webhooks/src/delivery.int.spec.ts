import { newId, uuidOf } from '@countersign/event-store';
import { asking, chief, doing, PAYLOAD } from '@countersign/review/fixture';
import { failing, type Received, Receiver, until, verifyStandard } from '@countersign/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type Server, startServer } from './fixture/server.js';

let server: Server;
let agent: Receiver;
beforeAll(async () => {
  server = await startServer();
  agent = await new Receiver().listen();
});
afterAll(async () => {
  await server.close();
  await agent.close();
});
afterEach(() => {
  server.secrets.current = { active: '11'.repeat(32), pending: null };
});

const bothArrived = (path: string) =>
  until(
    () => agent.at(path),
    (received) => received.length >= 2,
  );

describe('a delivery', () => {
  it('carries the decision with every header of the protocol, verifiable by a Standard Webhooks receiver', async () => {
    const requestId = 'req-0123456789';
    await server.approved(agent.url('/headers'), { request_id: requestId });
    const [taken, decided] = (await bothArrived('/headers')) as [Received, Received];
    expect([taken, decided].map((one) => one.headers['x-webhook-event'])).toEqual(['review.action_taken', 'review.decided']);
    expect(decided.json).toMatchObject({ type: 'review.decided', decision: 'approved' });
    for (const one of [taken, decided]) {
      expect(one.headers).toMatchObject({
        'content-type': 'application/json',
        'user-agent': 'Countersign/1.2.3',
        'x-request-id': requestId,
      });
      expect(one.headers['x-webhook-id']).toMatch(/^whd_[0-9a-z]{26}$/);
      expect(one.headers['webhook-id']).toBe(one.headers['x-webhook-id']);
      verifyStandard(one, '11'.repeat(32));
    }
    expect(taken.headers['x-webhook-id']).not.toBe(decided.headers['x-webhook-id']);
  });

  it('is attempted again after failures with the same id and bytes and a fresh signature, and recorded when it arrives', async () => {
    const review = await server.approved(agent.url('/five', failing(5)));
    const received = await until(
      () => agent.at('/five'),
      (all) => all.length >= 7,
    );
    const first = received.slice(0, 6);
    expect(new Set(first.map((one) => one.headers['x-webhook-id'])).size).toBe(1);
    expect(first.every((one) => one.body.equals(first[0]?.body as Buffer))).toBe(true);
    for (const one of received) verifyStandard(one, '11'.repeat(32));
    expect(received[6]?.headers['x-webhook-event']).toBe('review.decided');
    const outcomes = await until(
      async () => (await server.outcomes()).filter((one) => one.body.review_id === review),
      (all) => all.length >= 2,
    );
    expect(outcomes.map(({ type, body }) => [type, body.event_type, body.attempts])).toEqual([
      ['delivery.succeeded', 'review.action_taken', 6],
      ['delivery.succeeded', 'review.decided', 1],
    ]);
  });

  it('of more than 1 MB says where the values are instead, in the same bytes on every attempt', async () => {
    const [review, megabyte] = [newId('rev'), 1_048_576];
    const callback_url = agent.url('/large', failing(2));
    await server.decide(review, asking({ review, body: { callback_url, payload: { ...PAYLOAD, body: 'x'.repeat(megabyte) } } }));
    await server.decide(review, doing(chief, 'approve', { edited_payload: { body: 'y'.repeat(megabyte) } }));
    const received = await until(
      () => agent.at('/large'),
      (all) => all.length >= 4,
    );
    const [taken, again, , decided] = received as [Received, Received, Received, Received];
    expect(again.body.equals(taken.body)).toBe(true);
    for (const { body, json } of [taken, decided]) {
      expect(body.length).toBeLessThan(2_000);
      expect(json).toMatchObject({ edited_payload: null, truncated: true, review_url: `http://127.0.0.1:3100/reviews/${review}` });
    }
    expect(decided.json).toMatchObject({ type: 'review.decided', decision: 'edited', was_edited: true });
    expect(decided.json).not.toHaveProperty('suggested_value');
    expect(decided.json).not.toHaveProperty('approved_value');
  });

  it('is not made for a review that names no callback', async () => {
    const review = newId('rev');
    await server.decide(review, asking({ review }));
    await server.decide(review, doing(chief, 'approve'));
    const other = await server.approved(agent.url('/after'));
    await bothArrived('/after');
    const { rows } = await server.db.pool.query('select 1 from webhooks.deliveries where review = any($1)', [
      [uuidOf(review), uuidOf(other)],
    ]);
    expect(rows).toHaveLength(2);
  });

  it('keeps the order of its review while others are not held up', async () => {
    let broken = true;
    const url = agent.url('/order', (_, response) => void response.writeHead(broken ? 500 : 200).end());
    const review = newId('rev');
    await server.decide(review, asking({ review, body: { callback_url: url } }));
    await server.decide(review, doing(chief, 'request_changes', { feedback: 'Shorter' }));
    await until(
      () => agent.at('/order'),
      (all) => all.length >= 2,
    );
    await server.decide(review, doing(chief, 'reject_from_iteration'));
    const others = await Promise.all([1, 2, 3].map((n) => server.approved(agent.url(`/other-${n}`))));
    for (const [index] of others.entries()) await bothArrived(`/other-${index + 1}`);
    expect(new Set(agent.types('/order'))).toEqual(new Set(['review.retried']));
    broken = false;
    const types = await until(
      () => agent.types('/order'),
      (all) => all.includes('review.decided'),
    );
    expect(types.filter((type, index) => type !== types[index - 1])).toEqual(['review.retried', 'review.action_taken', 'review.decided']);
  });

  it('is signed with both secrets during a rotation, and with the new one alone after it', async () => {
    const [old, next] = ['22'.repeat(32), '33'.repeat(32)];
    server.secrets.current = { active: old, pending: next };
    await server.approved(agent.url('/rotating'));
    const [rotating] = (await bothArrived('/rotating')) as [Received];
    verifyStandard(rotating, old);
    verifyStandard(rotating, next);
    server.secrets.current = { active: next, pending: null };
    await server.approved(agent.url('/rotated'));
    const [rotated] = (await bothArrived('/rotated')) as [Received];
    verifyStandard(rotated, next);
    expect(() => verifyStandard(rotated, old)).toThrow('No matching signature');
  });

  it('costs no attempt when the secrets cannot be had', async () => {
    server.secrets.current = null;
    const before = server.secrets.asked;
    const review = await server.approved(agent.url('/unsigned'));
    await until(
      () => server.secrets.asked,
      (asked) => asked > before,
    );
    server.secrets.current = { active: '11'.repeat(32), pending: null };
    await bothArrived('/unsigned');
    const { body } = await server.call<{ items: { attempts: number }[] }>('listDeliveries', { query: `review_id=${review}` });
    expect(body.items.map((one) => one.attempts)).toEqual([1, 1]);
  });

  it('ends at once when the receiver answers 410, and the next of its review goes on', async () => {
    const review = await server.approved(agent.url('/gone', (_, response, nth) => void response.writeHead(nth === 1 ? 410 : 200).end()));
    await bothArrived('/gone');
    expect(agent.types('/gone')).toEqual(['review.action_taken', 'review.decided']);
    const outcomes = await until(
      async () => (await server.outcomes()).filter((one) => one.body.review_id === review),
      (all) => all.length >= 2,
    );
    expect(outcomes.map(({ type, body }) => [type, body.reason ?? null, body.status_code])).toEqual([
      ['delivery.dead_lettered', 'gone', 410],
      ['delivery.succeeded', null, 200],
    ]);
  });

  it('fails at a redirect, whose target never hears of it', async () => {
    const target = agent.url('/target');
    const review = await server.approved(
      agent.url('/moved', (_, response, nth) => void response.writeHead(nth === 1 ? 307 : 200, { location: target }).end()),
    );
    await until(
      () => agent.at('/moved'),
      (all) => all.length >= 3,
    );
    expect(agent.at('/target')).toHaveLength(0);
    const { body } = await server.call<{ items: { id: string }[] }>('listDeliveries', {
      query: `review_id=${review}&event_type=review.action_taken`,
    });
    const detail = await server.call<{ attempt_log: Record<string, unknown>[] }>('getDelivery', {
      params: { id: body.items[0]?.id ?? '' },
    });
    expect(detail.body.attempt_log).toMatchObject([
      { number: 1, outcome: 'failed', status_code: 307, stage: 'after' },
      { number: 2, outcome: 'delivered', status_code: 200 },
    ]);
  });
});
