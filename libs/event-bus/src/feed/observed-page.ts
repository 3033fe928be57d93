/** The arrival of events in a process, as telemetry sees it: one span for what came together, linked with the appends it came from. */
import { startSpan, type TraceContext, telemetryOn } from '@countersign/telemetry';

/**
 * @param source what was read: a topic, or the store.
 * @param began Unix milliseconds.
 */
export function observePage(source: string, began: number, origins: readonly (Partial<TraceContext> | undefined)[]): void {
  if (!telemetryOn() || !origins.some((origin) => origin?.traceparent)) return;
  startSpan(`receive ${source}`, {
    kind: 'client',
    parent: null,
    startTime: began,
    links: origins,
    attributes: {
      'messaging.system': source === 'event_store' ? 'countersign' : 'kafka',
      'messaging.operation.name': 'receive',
      'messaging.operation.type': 'receive',
      'messaging.destination.name': source,
      'messaging.batch.message_count': origins.length,
    },
  }).end();
}
