/** A test event: what is sent, and what is told of what came back (HRP §13). */
import type { Actor, DeliveryDetail, ErrorBody, WebhookTestResult } from '@countersign/contracts';
import { agent as AGENT, chief, PROJECT } from '@countersign/review/fixture';
import { type Received, Receiver, status, verifyStandard } from '@countersign/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Server, startServer } from './fixture/server.js';

let server: Server;
let agent: Receiver;
beforeAll(async () => {
  server = await startServer({ config: { backoff: [20, 20] } });
  agent = await new Receiver().listen();
});
afterAll(async () => {
  await server.close();
  await agent.close();
});

const detail = async (id: string) => (await server.call<DeliveryDetail>('getDelivery', { params: { id } })).body;

describe('a test', () => {
  it('sends one signed event and tells what came back', async () => {
    const { status: code, body } = await server.call<WebhookTestResult>('testWebhook', { body: { url: agent.url('/test', status(204)) } });
    expect([code, body]).toMatchObject([200, { status: 'delivered', status_code: 204, error: null }]);
    const [one] = agent.at('/test') as [Received];
    expect(one.headers).toMatchObject({ 'x-webhook-event': 'webhook.test', 'x-webhook-id': body.delivery_id });
    expect(one.json).toEqual({ type: 'webhook.test', project_id: PROJECT, sent_at: expect.any(String) });
    verifyStandard(one, '11'.repeat(32));
    expect(await detail(body.delivery_id)).toMatchObject({
      review_id: null,
      status: 'delivered',
      max_attempts: 1,
      attempt_log: [{ number: 1 }],
    });
  });

  it('tells a key the status alone, and a person what the receiver wrote and why nobody answered', async () => {
    const url = agent.url('/secret', (_, response) => void response.writeHead(418).end('db_password=hunter2'));
    const test = async (actor: Actor, to: string) =>
      (await server.call<WebhookTestResult>('testWebhook', { body: { url: to }, actor })).body;
    const forKey = await test(AGENT, url);
    expect(forKey).toMatchObject({ status: 'failed', status_code: 418, latency_ms: expect.any(Number), error: 'HTTP 418' });
    expect(JSON.stringify(await detail(forKey.delivery_id))).not.toContain('hunter2');
    expect((await test(chief, url)).error).toBe('HTTP 418: db_password=hunter2');
    // Nobody listens, or somebody who does not answer: the same to a key.
    for (const nobody of ['http://127.0.0.1:1/', agent.url('/cut', (_, response) => void response.destroy())]) {
      const result = await test(AGENT, nobody);
      expect(result).toMatchObject({ status: 'failed', status_code: null, latency_ms: null, error: 'No response.' });
      const { attempt_log } = await detail(result.delivery_id);
      expect(attempt_log).toMatchObject([{ stage: 'attempt', latency_ms: null, error: 'No response.', response_preview: null }]);
      expect((await test(chief, nobody)).error).not.toBe('No response.');
    }
  });

  it('is not repeated when it fails', async () => {
    const { body } = await server.call<WebhookTestResult>('testWebhook', { body: { url: agent.url('/test-500', status(500)) } });
    expect(body).toMatchObject({ status: 'failed', status_code: 500, error: 'HTTP 500' });
    const again = await server.call<ErrorBody>('retryDelivery', { params: { id: body.delivery_id } });
    expect([again.status, again.body.error.code]).toEqual([404, 'delivery_not_found']);
    expect((await server.call('replayDeliveries', { body: { ids: [body.delivery_id] } })).body).toMatchObject({ queued: 0 });
    expect(agent.at('/test-500')).toHaveLength(1);
  });

  it.each(['http://169.254.169.254/latest/meta-data/', 'http://10.0.0.1/', 'http://user:pw@example.org/'])(
    'refuses to call %s',
    async (url) => {
      const { status: code, body } = await server.call<ErrorBody>('testWebhook', { body: { url } });
      expect([code, body.error]).toMatchObject([400, { code: 'invalid_callback_url', param: 'url' }]);
    },
  );
});
