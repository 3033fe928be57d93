import { OtlpReceiver } from '@countersign/testing';
import { afterEach, describe, expect, it } from '@jest/globals';
import {
  continuing,
  count,
  createLogger,
  currentTrace,
  detached,
  errorType,
  observe,
  record,
  type Span,
  startSpan,
  startTelemetry,
  type Telemetry,
  telemetryOn,
  traced,
} from './index.js';

const AGENT = { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', tracestate: 'vendor=a1' };
const VARIABLES = [
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_PROTOCOL',
  'OTEL_BSP_SCHEDULE_DELAY',
  'OTEL_METRIC_EXPORT_INTERVAL',
  'OTEL_EXPORTER_OTLP_TIMEOUT',
];

let receiver: OtlpReceiver | undefined;
let telemetry: Telemetry | undefined;
afterEach(async () => {
  await telemetry?.stop();
  await receiver?.close();
  for (const name of VARIABLES) delete process.env[name];
});

/** Telemetry on, and a collector; `end` sends all of it. */
async function start(more: Record<string, string> = {}): Promise<{ to: OtlpReceiver; end: () => Promise<void>; lines: string[] }> {
  const to = await new OtlpReceiver().listen();
  receiver = to;
  Object.assign(process.env, to.settings, more);
  const lines: string[] = [];
  const logger = createLogger({ service: 'test', destination: { write: (line: string) => void lines.push(line) } });
  const on = await startTelemetry({ endpoint: to.url }, { service: 'countersign-test', version: '1.2.3', logger });
  telemetry = on;
  return { to, end: () => on.stop(), lines };
}

const byName = (to: OtlpReceiver, name: string) => {
  const found = to.spans.find((span) => span.name === name);
  if (!found) throw new Error(`No span ${name} among ${to.spans.map((span) => span.name)}.`);
  return found;
};

describe('telemetry that is off', () => {
  it('S1 runs the work as it is', async () => {
    telemetry = await startTelemetry({ endpoint: undefined }, { service: 'x', version: '0', logger: createLogger({ service: 'x' }) });
    expect(telemetryOn()).toBe(false);
    let seen: Span | undefined;
    const answer = await traced('work', { parent: AGENT }, async (span) => {
      seen = span;
      span.set({ a: 1 });
      span.link(AGENT);
      return [currentTrace(), span.context, span.recording];
    });
    expect(answer).toEqual([undefined, undefined, false]);
    expect(startSpan('other')).toBe(seen);
    expect(detached(() => 1) + continuing(AGENT, () => 2)).toBe(3);
    count('appends', {});
    record('batchSize', 1, {});
    observe(['streams'], () => {
      throw new Error('Nobody reads.');
    })();
  });
});

describe('telemetry that is on', () => {
  it('sends spans of one trace, with the resource of the process', async () => {
    const { to, end } = await start();
    await traced('outer', { kind: 'server', parent: AGENT, attributes: { a: 'x', none: undefined } }, async (outer) => {
      expect(outer.context?.tracestate).toBe('vendor=a1');
      await Promise.resolve();
      expect(currentTrace()).toEqual(outer.context);
      await traced('inner', { kind: 'producer' }, async () => {});
      await detached(() => traced('apart', { links: [outer.context, {}, undefined, { traceparent: 'no' }] }, async () => {}));
    });
    await continuing(AGENT, () => traced('later', {}, async () => {}));
    await end();
    const [outer, inner, apart, later] = ['outer', 'inner', 'apart', 'later'].map((name) => byName(to, name));
    expect(outer).toMatchObject({ traceId: AGENT.traceparent.slice(3, 35), parentSpanId: AGENT.traceparent.slice(36, 52), kind: 2 });
    expect(outer?.attributes).toEqual({ a: 'x' });
    expect(inner).toMatchObject({ traceId: outer?.traceId, parentSpanId: outer?.spanId, kind: 4 });
    expect(apart).toMatchObject({ parentSpanId: '', links: [{ traceId: outer?.traceId, spanId: outer?.spanId }] });
    expect(apart?.traceId).not.toBe(outer?.traceId);
    expect(later).toMatchObject({ traceId: outer?.traceId, parentSpanId: AGENT.traceparent.slice(36, 52) });
    expect(to.resources.get('countersign-test')).toMatchObject({
      'service.version': '1.2.3',
      'service.instance.id': expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
  });

  it.each([[null], [{ traceparent: 'nonsense' }], [{}]])(
    'begins a new trace where there is no place to go on from (%j)',
    async (parent) => {
      const { to, end } = await start();
      await traced('first', { parent }, async () => {});
      await end();
      expect(byName(to, 'first').parentSpanId).toBe('');
    },
  );

  it('S2 says what kind of error it was, and not its text', async () => {
    const { to, end } = await start();
    const work = traced('work', {}, async () => Promise.reject(new TypeError('secret-text')));
    await expect(work).rejects.toThrow('secret-text');
    await end();
    expect(byName(to, 'work')).toMatchObject({ failed: true, attributes: { 'error.type': 'TypeError' } });
    expect(to.raw.join()).not.toContain('secret-text');
    expect([errorType({ code: '23505' }), errorType(new Error('x')), errorType('x')]).toEqual(['23505', 'Error', '_OTHER']);
  });

  it('follows the sampling decision of whoever called, and hands it on', async () => {
    const { to, end } = await start();
    const unsampled = AGENT.traceparent.replace(/01$/, '00');
    const seen = await traced('work', { parent: { traceparent: unsampled } }, async (span) => [span.recording, span.context?.traceparent]);
    await end();
    expect(seen).toEqual([false, expect.stringMatching(/^00-4bf92f3577b34da6a3ce929d0e0e4736-(?!00f067aa0ba902b7)[0-9a-f]{16}-00$/)]);
    expect(to.spans).toEqual([]);
  });

  it('sends metrics of the catalogue, read and counted', async () => {
    const { to, end } = await start();
    count('appends', { 'countersign.writer': 'intake', 'countersign.append.result': 'appended' }, 2);
    record('batchSize', 5, { 'countersign.writer': 'intake' });
    observe(['streams', 'timersParked'], async (report) => report('streams', 7, {}));
    observe(['parked'], () => {
      throw new Error('The database is away.');
    });
    await end();
    const points = to.points.filter(({ metric }) => metric.startsWith('countersign.'));
    expect(points).toHaveLength(3);
    expect(points).toEqual(
      expect.arrayContaining([
        { metric: 'countersign.sse.streams', attributes: {}, value: 7, service: 'countersign-test' },
        expect.objectContaining({ metric: 'countersign.append.requests', value: 2 }),
        expect.objectContaining({ metric: 'countersign.append.batch.size', value: 1 }),
      ]),
    );
  });

  it('measures the event loop', async () => {
    const { to } = await start({ OTEL_METRIC_EXPORT_INTERVAL: '100' });
    const measured = () => to.points.find(({ metric, value }) => metric === 'nodejs.eventloop.delay.p99' && value >= 0);
    for (const deadline = Date.now() + 5_000; !measured() && Date.now() < deadline; )
      await new Promise((resolve) => setTimeout(resolve, 20));
    expect(measured()).toBeDefined();
  });

  it('sends log lines as they were written, with the ids of the trace', async () => {
    const { to, end } = await start();
    const lines: Record<string, unknown>[] = [];
    const logger = createLogger({ service: 'intake', destination: { write: (line: string) => void lines.push(JSON.parse(line)) } });
    await traced('work', {}, async () => logger.warn({ api_key: 'gwk_secret', review_id: 'rev_1' }, 'asked by maya@example.com'));
    logger.info('outside');
    await end();
    const span = byName(to, 'work');
    expect(lines[0]).toMatchObject({ trace_id: span.traceId, span_id: span.spanId, api_key: '[redacted]' });
    expect(lines[1]).not.toHaveProperty('trace_id');
    expect(to.logs).toEqual([
      {
        body: 'asked by …@example.com',
        attributes: { service: 'intake', api_key: '[redacted]', review_id: 'rev_1' },
        traceId: span.traceId,
        service: 'countersign-test',
      },
      expect.objectContaining({ body: 'outside', traceId: '' }),
    ]);
  });

  it('speaks protobuf unless told otherwise', async () => {
    const { to, end } = await start({ OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf' });
    await traced('work', {}, async () => {});
    await end();
    expect(to.types).toEqual(new Set(['application/x-protobuf']));
    expect(to.raw.join()).toContain('countersign-test');
  });

  it('says that nothing can be sent, does not send that, and ends all the same', async () => {
    const { to, end, lines } = await start({ OTEL_EXPORTER_OTLP_TIMEOUT: '200' });
    await to.close();
    await traced('work', {}, async () => {});
    await end();
    expect(telemetryOn()).toBe(false);
    for (const line of lines) expect(JSON.parse(line)).toMatchObject({ component: 'telemetry', level: 'warn' });
  });
});
