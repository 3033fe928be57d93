/**
 * Spans, by hand, at the few places where one part of the product hands over to another (docs/adr/0008-spans-by-hand.md).
 *
 * S1 While telemetry is off, work runs as it is: nothing is loaded, allocated or measured.
 * S2 A span says which operation failed and what kind of error it was, never the error's text: that may hold what a caller sent.
 * S3 Attributes are ids, names of ours, counts and codes. No payload, credential, address of a person, SQL parameter or URL of a client.
 */
import type { Context, Span as OtelSpan, SpanContext } from '@opentelemetry/api';
import { type Backend, backend } from './backend.js';
import { readTrace, type TraceContext, writeTrace } from './trace-context.js';

export type Attributes = Record<string, string | number | boolean | undefined>;

export interface SpanOptions {
  kind?: 'internal' | 'server' | 'client' | 'producer' | 'consumer';
  attributes?: Attributes;
  /** Where the span belongs when it is not the active one: a place another process told of. Null, or none that can be read, begins a new trace. */
  parent?: Partial<TraceContext> | null;
  links?: readonly (Partial<TraceContext> | undefined)[];
  /** Unix milliseconds, for what began earlier. */
  startTime?: number;
}

export interface Span {
  /** Undefined while telemetry is off. */
  readonly context: TraceContext | undefined;
  /** Whether the sampler keeps it. */
  readonly recording: boolean;
  set(attributes: Attributes): void;
  link(to: Partial<TraceContext> | undefined): void;
  /** @param type what `errorType` says of the error, or a code. */
  fail(type: string): void;
  end(): void;
  /** Does work as part of this span. */
  run<T>(work: () => T): T;
}

const NO_SPAN: Span = {
  context: undefined,
  recording: false,
  set() {},
  link() {},
  fail() {},
  end() {},
  run: (work) => work(),
};

const KINDS = { internal: 0, server: 1, client: 2, producer: 3, consumer: 4 } as const;
const ERROR_STATUS = 2;

/** A span to be ended by hand. */
export function startSpan(name: string, options: SpanOptions = {}): Span {
  const on = backend();
  if (on === null) return NO_SPAN;
  const parent = options.parent === undefined ? on.api.context.active() : contextOf(options.parent);
  const links = (options.links ?? []).flatMap((link) => {
    const context = spanContextOf(link);
    return context === undefined ? [] : [{ context }];
  });
  const { kind = 'internal', attributes, startTime } = options;
  const span = on.tracer.startSpan(name, { kind: KINDS[kind], attributes, links, startTime }, parent);
  return new LiveSpan(span, on.api.trace.setSpan(parent, span));
}

/** Runs work in a span that ends with it. */
export async function traced<T>(name: string, options: SpanOptions, work: (span: Span) => Promise<T>): Promise<T> {
  if (backend() === null) return work(NO_SPAN);
  const span = startSpan(name, options);
  try {
    return await span.run(() => work(span));
  } catch (error) {
    span.fail(errorType(error));
    throw error;
  } finally {
    span.end();
  }
}

/** Does work that goes on for others, outside of whatever trace it happened to be started in. */
export function detached<T>(work: () => T): T {
  const on = backend();
  return on === null ? work() : on.api.context.with(on.root, work);
}

/** Does work as what follows from a place in a trace, without a span of its own. */
export function continuing<T>(place: Partial<TraceContext> | undefined, work: () => T): T {
  const on = backend();
  return on === null ? work() : on.api.context.with(contextOf(place ?? null), work);
}

/** A callback that is called in the trace it was given in, whoever calls it. */
export function bound<Args extends unknown[]>(callback: (...args: Args) => void): (...args: Args) => void {
  const on = backend();
  if (on === null) return callback;
  const active = on.api.context.active();
  return (...args) => on.api.context.with(active, () => callback(...args));
}

/** The active place, for whoever hands over to another process; undefined outside of a trace and while telemetry is off. */
export function currentTrace(): TraceContext | undefined {
  const on = backend();
  const context = on?.api.trace.getSpanContext(on.api.context.active());
  return context === undefined ? undefined : writeTrace(context);
}

/** Whether what is done now belongs to a trace that is kept. */
export function inTrace(): boolean {
  const on = backend();
  return on?.api.trace.getActiveSpan()?.isRecording() ?? false;
}

/** Ids for a log line. */
export function currentTraceIds(): { trace_id?: string; span_id?: string } {
  const on = backend();
  const context = on?.api.trace.getSpanContext(on.api.context.active());
  return context === undefined ? {} : { trace_id: context.traceId, span_id: context.spanId };
}

/** A name for what went wrong: a code where the error has one, else its class. */
export function errorType(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  if (typeof code === 'string' && /^\w{1,64}$/.test(code)) return code;
  return error instanceof Error && /^\w{1,64}$/.test(error.name) ? error.name : '_OTHER';
}

class LiveSpan implements Span {
  readonly context: TraceContext;
  readonly recording: boolean;

  constructor(
    private readonly span: OtelSpan,
    private readonly active: Context,
  ) {
    this.context = writeTrace(span.spanContext());
    this.recording = span.isRecording();
  }

  set(attributes: Attributes): void {
    for (const [name, value] of Object.entries(attributes)) if (value !== undefined) this.span.setAttribute(name, value);
  }

  link(to: Partial<TraceContext> | undefined): void {
    const context = spanContextOf(to);
    if (context !== undefined) this.span.addLink({ context });
  }

  fail(type: string): void {
    this.span.setStatus({ code: ERROR_STATUS });
    this.span.setAttribute('error.type', type);
  }

  end(): void {
    this.span.end();
  }

  run<T>(work: () => T): T {
    const on = backend();
    return on === null ? work() : on.api.context.with(this.active, work);
  }
}

/** A context with this place as its span; an empty one where the place cannot be read. */
function contextOf(place: Partial<TraceContext> | null): Context {
  const { api, root } = backend() as Backend;
  const span = spanContextOf(place ?? undefined);
  return span === undefined ? root : api.trace.setSpanContext(root, span);
}

function spanContextOf(place: Partial<TraceContext> | undefined): SpanContext | undefined {
  return place?.traceparent ? readTrace(place, (backend() as Backend).api.createTraceState) : undefined;
}
