import { setTimeout as sleep } from 'node:timers/promises';
import { digest } from '@countersign/evidence';
import { until } from '@countersign/platform/fixture';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { DRAFT, Server } from './server.js';

jest.setTimeout(180_000);

let server: Server;
beforeAll(async () => {
  server = await Server.start();
});
afterAll(() => server?.stop());

/** Milliseconds a request is given before everything is killed: from before it is read to after it is answered. */
const MOMENTS = [0, 3, 7, 14];

/** Sends requests and kills the product under them; what was answered is null where no answer came. */
async function killedUnder<T>(afterMs: number, requests: (() => Promise<T>)[]): Promise<(T | null)[]> {
  const answers = Promise.all(requests.map((send) => send().catch(() => null)));
  await sleep(afterMs);
  await server.topology.killAndRestart();
  return answers;
}

const typesOf = async (id: string): Promise<string[]> => {
  const { items } = await server.admin.do('listAuditEvents', { query: { resource_id: id, limit: 100 } });
  return items.map((item) => item.action).reverse();
};

describe('a process killed while it works', () => {
  it.each(MOMENTS)('on a request, %i ms in, has taken it once or not at all, and the retry says the same', async (ms) => {
    const body = { template: 'email-draft', payload: DRAFT, idempotency_key: `killed-${ms}` };
    const ask = () => server.agent.try('createReview', { body });
    const answers = await killedUnder(ms, [ask, ask, ask]);
    const { body: review } = await ask();
    for (const answer of answers) if (answer) expect(answer.body.id).toBe(review.id);
    const { items } = await server.agent.do('listReviews', { query: { limit: 100 } });
    expect(items.filter((item) => item.idempotency_key === body.idempotency_key).map((item) => item.id)).toEqual([review.id]);
  });

  it.each(MOMENTS)('on a decision, %i ms in, has recorded it once or not at all, and what was answered holds', async (ms) => {
    const path = `/killed/${ms}`;
    const { id } = await server.ask({ callback_url: server.receiver.url(path) });
    const approve = () => server.admin.try('actOnReview', { path: { id }, body: { action_id: 'approve' } });
    const reject = () => server.reviewer.try('actOnReview', { path: { id }, body: { action_id: 'reject', feedback: 'No.' } });
    const answers = await killedUnder(ms, [approve, reject]);
    const said = answers.filter((answer) => answer?.status === 200).map((answer) => answer?.body.decision);
    await approve();
    const { decision } = await server.agent.review(id);
    for (const answered of said) expect(decision).toBe(answered);
    await until('the log', async () => (await typesOf(id)).includes('review.decided'));
    expect(await typesOf(id)).toEqual(['review.requested', 'review.decided']);
    await until('both webhooks', () => new Set(server.receiver.types(path)).size === 2);
    const told = server.receiver.at(path).filter((one) => one.headers['x-webhook-event'] === 'review.decided');
    expect(new Set(told.map((one) => one.json.decision))).toEqual(new Set([decision]));
    expect(new Set(server.receiver.at(path).map((one) => one.headers['x-webhook-id'])).size).toBe(2);
  });

  it.each(MOMENTS)('on a redemption, %i ms in, has redeemed once or not at all', async (ms) => {
    const { id } = await server.ask();
    await server.admin.act(id, 'approve');
    const redeem = () => server.agent.try('redeemReview', { path: { id }, body: { digest: digest(DRAFT) } });
    const answers = await killedUnder(ms, [redeem, redeem]);
    const after = await redeem();
    const { redemption } = await server.agent.review(id);
    const redeemed = [...answers, after].filter((answer) => answer?.status === 200).map((answer) => answer?.body.id);
    expect(redeemed.length).toBeLessThanOrEqual(1);
    for (const one of redeemed) expect(one).toBe(redemption?.id);
    expect(after.status === 200 || after.body.error.code === 'already_redeemed').toBe(true);
  });

  it('leaves a log that verifies', async () => {
    expect(await server.admin.do('verifyAudit')).toMatchObject({ valid: true, first_bad: null });
  });
});
