import { createLogger } from '@countersign/telemetry';
import { collectTelemetry, failing, Receiver } from '@countersign/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Server, startServer } from '../fixture/server.js';

const STORED = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

let telemetry: Awaited<ReturnType<typeof collectTelemetry>> | undefined;
let server: Server | undefined;
const receiver = new Receiver();
beforeAll(() => receiver.listen());
afterAll(async () => {
  await server?.close();
  await telemetry?.end();
  await receiver.close();
});

describe('a delivery', () => {
  it('bears the trace of its event also where this process sends no telemetry', async () => {
    const off = await startServer();
    const review = await off.approved(receiver.url('/off', failing(1)), { traceparent: STORED, tracestate: 'vendor=a1' });
    await off.head(review, (one) => one.status === 'delivered');
    const [first, again] = receiver.at('/off');
    expect([first, again].map((one) => [one?.headers.traceparent, one?.headers.tracestate])).toEqual([
      [STORED, 'vendor=a1'],
      [STORED, 'vendor=a1'],
    ]);
    await off.close();
  });

  it('O1 goes on in the trace of its event at first, and is linked with it later', async () => {
    telemetry = await collectTelemetry();
    const lines: Record<string, unknown>[] = [];
    const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
    const on = await startServer({ logger: createLogger({ service: 'webhooks', destination }) });
    server = on;
    const secret = receiver.url('/on-secret-path', failing(2));
    const review = await on.approved(secret);
    const delivery = await on.head(review, (one) => one.status === 'delivered');
    for (const deadline = Date.now() + 10_000; (await on.outcomes()).length < 2 && Date.now() < deadline; )
      await new Promise((resolve) => setTimeout(resolve, 20));
    await on.caughtUp();
    await telemetry.end();
    expect(telemetry.complaints).toEqual([]);

    const { spans, points, raw } = telemetry.receiver;
    const arrived = receiver.at('/on-secret-path').filter((one) => one.headers['x-webhook-id'] === delivery.id);
    expect(arrived).toHaveLength(3);
    const posts = arrived.map((one) => spans.find((span) => span.spanId === one.headers.traceparent?.slice(36, 52)));
    const attempts = posts.map((post) => spans.find((span) => span.spanId === post?.parentSpanId));
    expect(posts.map((post) => [post?.name, post?.kind, post?.attributes['http.response.status_code']])).toEqual([
      ['POST', 3, 500],
      ['POST', 3, 500],
      ['POST', 3, 200],
    ]);
    const handled = spans.find((span) => span.spanId === attempts[0]?.parentSpanId);
    expect(handled?.name).toBe('process review.decided webhooks');
    expect(attempts.map((span) => [span?.name, span?.attributes['countersign.outcome'], span?.parentSpanId])).toEqual([
      ['deliver review.action_taken', 'retry', handled?.spanId],
      ['deliver review.action_taken', 'retry', ''],
      ['deliver review.action_taken', 'delivered', ''],
    ]);
    for (const later of attempts.slice(1)) {
      expect(later?.links).toEqual([{ traceId: handled?.traceId, spanId: handled?.spanId }]);
      expect(later?.traceId).not.toBe(handled?.traceId);
    }
    expect(attempts[0]?.attributes).toMatchObject({ 'countersign.delivery.id': delivery.id, 'countersign.review.id': review });
    // How it ended is recorded in the same trace.
    expect(spans.find((span) => span.name === 'append delivery.succeeded' && span.traceId === handled?.traceId)).toMatchObject({
      parentSpanId: handled?.spanId,
    });
    expect(raw.join()).not.toContain('secret-path');
    // One line for each attempt.
    const about = lines.filter(({ msg, delivery_id }) => msg === 'delivery attempted' && delivery_id === delivery.id);
    expect(about.map((line) => [line.attempt, line.outcome, line.review_id, line.trace_id])).toEqual([
      [1, 'retry', review, attempts[0]?.traceId],
      [2, 'retry', review, attempts[1]?.traceId],
      [3, 'delivered', review, attempts[2]?.traceId],
    ]);

    const outcomes = (metric: string) =>
      new Set(points.filter((point) => point.metric === metric).map((point) => point.attributes['countersign.outcome']));
    expect(outcomes('countersign.webhook.attempts')).toEqual(new Set(['retry', 'delivered']));
    expect(outcomes('countersign.webhook.delivery.age')).toEqual(new Set(['delivered']));
    expect(points.findLast((point) => point.metric === 'countersign.webhook.pending')).toMatchObject({ value: 0 });
  });
});
