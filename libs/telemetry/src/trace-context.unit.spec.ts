import { describe, expect, it } from '@jest/globals';
import { createTraceState } from '@opentelemetry/api';
import { readTrace, writeTrace } from './trace-context.js';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';
const read = (traceparent: string, tracestate?: string) => readTrace({ traceparent, tracestate }, createTraceState);

describe('W3C Trace Context', () => {
  it.each([`00-${TRACE}-${SPAN}-01`, `00-${TRACE}-${SPAN}-00`, ` 00-${TRACE}-${SPAN}-01 `])('reads %s and writes it again', (text) => {
    const context = read(text, 'vendor=a1,other=b');
    expect(context).toMatchObject({ traceId: TRACE, spanId: SPAN, isRemote: true });
    expect(context && writeTrace(context)).toEqual({ traceparent: text.trim(), tracestate: 'vendor=a1,other=b' });
  });

  it('reads of a later version, and of flags, what it knows', () => {
    expect(read(`cc-${TRACE}-${SPAN}-03-more`)).toMatchObject({ traceId: TRACE, traceFlags: 1 });
  });

  it.each([
    '',
    'nonsense',
    `ff-${TRACE}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}-01-more`,
    `00-${'0'.repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}`,
  ])('does not take %j for a place', (text) => {
    expect(read(text)).toBeUndefined();
  });

  it('leaves out a state that is too long or none', () => {
    expect(read(`00-${TRACE}-${SPAN}-01`, `a=${'x'.repeat(600)}`)?.traceState).toBeUndefined();
    const context = read(`00-${TRACE}-${SPAN}-01`, 'no state at all');
    expect(context && writeTrace(context)).toEqual({ traceparent: `00-${TRACE}-${SPAN}-01` });
  });
});
