import { collectTelemetry } from '@countersign/testing';
import { expect, it } from '@jest/globals';
import { observePage } from '../feed/observed-page.js';
import { observedSend } from './observed-send.js';
import type { ReadEvent } from './relayed.js';

const TRACEPARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
const EVENT: ReadEvent = {
  position: 1,
  shard: 0,
  stream: 'rev_1',
  category: 'review',
  version: 1,
  id: 'evt_1',
  project: 'prj_1',
  bucket: 7,
  type: 'review.asked',
  schemaVersion: 1,
  time: '2026-11-30T12:00:00.000Z',
  body: '{}',
  meta: JSON.stringify({ traceparent: TRACEPARENT }),
  ageMs: 5,
};

it('an event’s way to Kafka and its arrival have what the messaging conventions name', async () => {
  const telemetry = await collectTelemetry();
  let sent: string | undefined;
  try {
    await observedSend(
      [EVENT],
      (category) => `test.${category}.v1`,
      async (hopOf) => {
        sent = hopOf(EVENT)?.traceparent;
      },
    );
    observePage('test.review.v1', Date.now(), [{ traceparent: sent as string }]);
  } finally {
    await telemetry.end();
  }
  const { spans } = telemetry.receiver;
  const named = (name: string) => spans.find((span) => span.name === name);
  expect(named('publish review.asked')).toMatchObject({
    kind: 4,
    traceId: TRACEPARENT.slice(3, 35),
    parentSpanId: TRACEPARENT.slice(36, 52),
    spanId: sent?.slice(36, 52),
    attributes: {
      'messaging.system': 'kafka',
      'messaging.operation.name': 'publish',
      'messaging.operation.type': 'create',
      'messaging.destination.name': 'test.review.v1',
      'messaging.destination.partition.id': '7',
      'messaging.message.id': 'evt_1',
    },
  });
  expect(named('send events')).toMatchObject({
    kind: 3,
    links: [{ spanId: sent?.slice(36, 52) }],
    attributes: { 'messaging.system': 'kafka', 'messaging.operation.name': 'send', 'messaging.operation.type': 'send' },
  });
  expect(named('receive test.review.v1')).toMatchObject({
    kind: 3,
    links: [{ spanId: sent?.slice(36, 52) }],
    attributes: {
      'messaging.system': 'kafka',
      'messaging.operation.name': 'receive',
      'messaging.operation.type': 'receive',
      'messaging.destination.name': 'test.review.v1',
    },
  });
});
