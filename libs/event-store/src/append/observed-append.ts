/**
 * Appends as telemetry sees them.
 *
 * O1 The span of an append is kept with its events (`EventMeta.traceparent`): whatever follows from them, in whatever process, goes on there.
 * O2 A batch serves appends of many traces. It is a span of its own, linked with them both ways: each of them names it, and it names as many
 *    of them as a span may.
 */
import { count, errorType, record, type Span, startSpan, traced } from '@countersign/telemetry';
import type { AppendRequest, AppendResult, DomainEvent } from '../types.js';

/** What the specification lets a span have; more are dropped, with a warning for each span. */
const MOST_LINKS = 128;

export function observedAppend<E extends DomainEvent>(
  writer: string,
  request: AppendRequest<E>,
  append: (request: AppendRequest<E>, span: Span) => Promise<AppendResult>,
): Promise<AppendResult> {
  const [first] = request.streams;
  const types = [...new Set(request.streams.flatMap((part) => part.events.map((event) => event.type)))];
  const attributes = {
    'messaging.system': 'countersign',
    'messaging.operation.type': 'send',
    'messaging.operation.name': 'append',
    'messaging.destination.name': first?.stream.split('_')[0],
    'messaging.batch.message_count': request.streams.reduce((sum, part) => sum + part.events.length, 0),
    'countersign.service': writer,
    'countersign.stream.id': first?.stream,
    'countersign.project.id': first?.project,
    'countersign.event.types': types.join(' '),
  };
  return traced(`append ${types[0] ?? ''}`.trim(), { kind: 'producer', attributes }, async (span) => {
    const began = performance.now();
    let outcome = 'error';
    try {
      const result = await append({ ...request, meta: { ...request.meta, ...span.context } }, span);
      outcome = result.status;
      return result;
    } finally {
      span.set({ 'countersign.append.result': outcome });
      count('appends', { 'countersign.writer': writer, 'countersign.append.result': outcome });
      record('appendDuration', (performance.now() - began) / 1_000, { 'countersign.writer': writer });
    }
  });
}

/** @param appends the spans of the appends that go together, where telemetry is on. */
export async function observedBatch<T>(
  writer: string,
  requests: number,
  appends: readonly (Span | undefined)[],
  send: () => Promise<T>,
): Promise<T> {
  record('batchSize', requests, { 'countersign.writer': writer });
  const recorded = appends.filter((span) => span?.recording) as Span[];
  if (recorded.length === 0) return send();
  const span = startSpan('append batch', {
    kind: 'client',
    parent: null,
    links: recorded.slice(0, MOST_LINKS).map((append) => append.context),
    attributes: {
      'db.system.name': 'postgresql',
      'db.query.summary': 'event_store.append',
      'db.operation.batch.size': requests,
      'countersign.service': writer,
    },
  });
  for (const append of recorded) append.link(span.context);
  try {
    return await span.run(send);
  } catch (error) {
    span.fail(errorType(error));
    throw error;
  } finally {
    span.end();
  }
}
