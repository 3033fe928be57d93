/**
 * What telemetry sees of consuming.
 *
 * O1 A batch is a span of its own, linked with the appends of its events. An event from which something follows has a span too, made as soon
 *    as that is asked for; it goes on where the event was appended: one trace leads from a request through everything that followed from it.
 * O2 A replay belongs to nobody's request: its events have no spans.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { StoredEvent } from '@countersign/event-store';
import { count, errorType, record, type Span, startSpan, type TraceContext, telemetryOn } from '@countersign/telemetry';

/** Spans of the events of the batch that is worked here and now: the event itself may be in the batches of other groups at the same time. */
const batches = new AsyncLocalStorage<(event: StoredEvent) => Span | undefined>();

/** Does what follows from one event of a batch, such as a command, as part of the event's trace. */
export function duringEvent<T>(event: StoredEvent, work: () => T): T {
  const span = batches.getStore()?.(event);
  return span ? span.run(work) : work();
}

/** Where in a trace something that is done later for an event goes on; undefined where nobody traced it. */
export function traceOf(event: StoredEvent): TraceContext | undefined {
  const here = batches.getStore()?.(event)?.context;
  if (here) return here;
  const { traceparent, tracestate } = event.meta;
  return traceparent === undefined ? undefined : { traceparent, ...(tracestate === undefined ? {} : { tracestate }) };
}

export async function observedBatch(
  group: string,
  events: readonly StoredEvent[],
  replay: boolean,
  work: () => Promise<void>,
): Promise<void> {
  if (!telemetryOn() || events.length === 0) return work();
  const shared = {
    'messaging.system': 'countersign',
    'messaging.consumer.group.name': group,
    'messaging.operation.name': 'process',
    'messaging.operation.type': 'process',
  };
  const batch = startSpan(`process ${group}`, {
    kind: 'consumer',
    parent: null,
    links: events.map(({ meta }) => meta),
    attributes: { ...shared, 'messaging.batch.message_count': events.length, 'countersign.replay': replay || undefined },
  });
  const spans = new Map<StoredEvent, Span>();
  const spanOf = (event: StoredEvent): Span | undefined => {
    const { meta: parent } = event;
    if (replay || parent.traceparent === undefined) return undefined;
    const known = spans.get(event);
    if (known) return known;
    const attributes = {
      ...shared,
      'messaging.destination.name': event.category,
      'messaging.message.id': event.id,
      'countersign.stream.id': event.stream,
      'countersign.project.id': event.project,
      'countersign.event.types': event.type,
    };
    const span = startSpan(`process ${event.type} ${group}`, { kind: 'consumer', parent, links: [batch.context], attributes });
    spans.set(event, span);
    return span;
  };
  const began = performance.now();
  let failure: string | undefined;
  try {
    await batch.run(() => batches.run(spanOf, work));
  } catch (error) {
    failure = errorType(error);
    throw error;
  } finally {
    for (const span of [batch, ...spans.values()]) {
      if (failure !== undefined) span.fail(failure);
      span.end();
    }
    count('consumed', { 'countersign.group': group, 'countersign.outcome': failure === undefined ? 'handled' : 'failed' }, events.length);
    record('consumerBatch', (performance.now() - began) / 1_000, { 'countersign.group': group });
  }
}
