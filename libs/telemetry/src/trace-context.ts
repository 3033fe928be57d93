/** W3C Trace Context, read and written by hand: it is done for every event and link, and the propagators do it for any carrier and format. */
import type { SpanContext, TraceState } from '@opentelemetry/api';

/** A place in a trace, as W3C Trace Context writes it and events keep it. */
export interface TraceContext {
  traceparent: string;
  tracestate?: string;
}

const TRACEPARENT = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/;
const NO_TRACE = '0'.repeat(32);
const NO_SPAN = '0'.repeat(16);
/** What the standard asks everybody to carry at least. */
const LONGEST_STATE = 512;

export function readTrace(
  { traceparent, tracestate }: Partial<TraceContext>,
  createTraceState: (text: string) => TraceState,
): SpanContext | undefined {
  const [, version, traceId, spanId, flags, more] = TRACEPARENT.exec(traceparent?.trim() ?? '') ?? [];
  if (traceId === undefined || spanId === undefined || traceId === NO_TRACE || spanId === NO_SPAN) return undefined;
  // A later version may say more; this one does not.
  if (version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  const context: SpanContext = { traceId, spanId, traceFlags: Number.parseInt(flags as string, 16) & 1, isRemote: true };
  return tracestate && tracestate.length <= LONGEST_STATE ? { ...context, traceState: createTraceState(tracestate) } : context;
}

export function writeTrace({ traceId, spanId, traceFlags, traceState }: SpanContext): TraceContext {
  const traceparent = `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
  const tracestate = traceState?.serialize();
  return tracestate ? { traceparent, tracestate } : { traceparent };
}
