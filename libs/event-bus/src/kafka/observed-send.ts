/**
 * The relay's part of a trace: each event's way to Kafka goes on from its append, and its message says so in `traceparent`, which names this
 * hop; `ce_traceparent` (CloudEvents' distributed tracing) stays what the event was appended in.
 */
import { errorType, record, type Span, startSpan, type TraceContext, telemetryOn } from '@countersign/telemetry';
import { traceOfMeta } from './message.js';
import type { ReadEvent } from './relayed.js';

/** @param send is told the headers of a message for each event. */
export async function observedSend(
  events: readonly ReadEvent[],
  topicOf: (category: string) => string,
  send: (hopOf: (event: ReadEvent) => TraceContext | undefined) => Promise<void>,
): Promise<void> {
  if (!telemetryOn() || events.length === 0) return send(() => undefined);
  const began = performance.now();
  const hops = new Map<ReadEvent, Span>();
  for (const event of events) {
    const parent = traceOfMeta(event.meta);
    if (parent === undefined) continue;
    const attributes = {
      'messaging.system': 'kafka',
      'messaging.operation.name': 'publish',
      'messaging.operation.type': 'create',
      'messaging.destination.name': topicOf(event.category),
      'messaging.destination.partition.id': String(event.bucket),
      'messaging.message.id': event.id,
      'countersign.event.types': event.type,
    };
    hops.set(event, startSpan(`publish ${event.type}`, { kind: 'producer', parent, attributes }));
  }
  const batch = startSpan('send events', {
    kind: 'client',
    parent: null,
    links: [...hops.values()].map((span) => span.context),
    attributes: {
      'messaging.system': 'kafka',
      'messaging.operation.name': 'send',
      'messaging.operation.type': 'send',
      'messaging.batch.message_count': events.length,
    },
  });
  try {
    await batch.run(() => send((event) => hops.get(event)?.context));
    const took = performance.now() - began;
    for (const { ageMs } of events) record('relayDelay', Math.max(0, ageMs + took) / 1_000, {});
  } catch (error) {
    for (const span of [batch, ...hops.values()]) span.fail(errorType(error));
    throw error;
  } finally {
    for (const span of [batch, ...hops.values()]) span.end();
  }
}
