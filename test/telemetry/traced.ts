/**
 * One trace from the agent's request to the first webhook, in any topology, as a collector receives it; and what the metrics and the log say
 * of it.
 */
import { randomBytes } from 'node:crypto';
import { until } from '@countersign/platform/fixture';
import { METRICS, type MetricDeclaration } from '@countersign/telemetry';
import { failing, OtlpReceiver, type ReceivedSpan } from '@countersign/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Server } from '../e2e/server.js';
import { Stream } from '../e2e/stream.js';
import type { Topology } from '../e2e/topology.js';

const SERVER = 2;
const CLIENT = 3;
const PRODUCER = 4;
const CONSUMER = 5;

/** @param services `service.name` of who takes part: the gateway, the service that was asked, and the one that delivers. */
export function playTraces(
  name: string,
  start: (settings: Record<string, string>) => Promise<Topology>,
  { services, kafka }: { services: { gateway: string; intake: string; webhooks: string }; kafka: boolean },
): void {
  let collector: OtlpReceiver;
  let server: Server;

  beforeAll(async () => {
    collector = await new OtlpReceiver().listen();
    server = await Server.start(await start({ ...collector.settings, LOG_LEVEL: 'info', WEBHOOK_BACKOFF: '50ms,50ms,50ms' }));
  });
  afterAll(async () => {
    await server?.stop();
    await collector?.close();
  });

  const spanAt = (traceparent: string | undefined) =>
    until(`the span ${traceparent}`, () => collector.spans.find((span) => span.spanId === traceparent?.slice(36, 52)));

  /** From a span to the first of its trace that was received. */
  function lineage(span: ReceivedSpan): ReceivedSpan[] {
    const parent = collector.spans.find((one) => one.spanId === span.parentSpanId);
    return parent ? [...lineage(parent), span] : [span];
  }

  /** A review the agent withdraws in a trace of its own, with a receiver that fails first. */
  async function withdrawn(path: string, headers: Record<string, string>) {
    const { id } = await server.ask({ callback_url: server.receiver.url(path, failing(1)) });
    await server.agent.do('withdrawReview', { path: { id }, body: { reason: 'Not needed.' }, headers });
    await until('the webhook and its repetition', () => server.receiver.at(path).length >= 2);
    const [first, again] = server.receiver.at(path).map((one) => one.headers.traceparent);
    return { id, first: await spanAt(first), again: await spanAt(again) };
  }

  describe(`a trace, ${name}`, () => {
    it('leads from the agent’s request to the first webhook; the second attempt is linked', async () => {
      const trace = randomBytes(16).toString('hex');
      const agent = randomBytes(8).toString('hex');
      const headers = { traceparent: `00-${trace}-${agent}-01`, tracestate: 'vendor=a1' };
      const { id, first, again } = await withdrawn('/traced', headers);
      await until('all of it', () => lineage(first).length === 7);

      const path = lineage(first);
      expect(path.map(({ name, kind, service }) => [name, kind, service])).toEqual([
        ['POST /api/v1/reviews/:id/withdraw', SERVER, services.gateway],
        ['POST /api/v1/reviews/{id}/withdraw', CLIENT, services.gateway],
        ['POST /api/v1/reviews/:id/withdraw', SERVER, services.intake],
        ['append review.withdrawn', PRODUCER, services.intake],
        ['process review.withdrawn webhooks', CONSUMER, services.webhooks],
        ['deliver review.expired', 1, services.webhooks],
        ['POST', CLIENT, services.webhooks],
      ]);
      expect(new Set(path.map((span) => span.traceId))).toEqual(new Set([trace]));
      expect(path[0]?.parentSpanId).toBe(agent);
      expect(server.receiver.at('/traced')[0]?.headers.tracestate).toBe('vendor=a1');
      const [stored] = await server.topology.query<{ meta: { traceparent: string; tracestate: string } }>(
        `select meta::json as meta from event_store.events where type = 'review.withdrawn'`,
      );
      expect(stored?.meta).toMatchObject({ traceparent: `00-${trace}-${path[3]?.spanId}-01`, tracestate: 'vendor=a1' });

      const retried = lineage(again).at(-2);
      expect(retried).toMatchObject({ name: 'deliver review.expired', parentSpanId: '', attributes: { 'countersign.attempt': 2 } });
      expect(retried?.links).toEqual([{ traceId: trace, spanId: path[4]?.spanId }]);

      // The batches behind it are spans of their own, linked.
      const append = path[3] as ReceivedSpan;
      const batch = await until('the append’s batch', () => collector.spans.find((span) => span.spanId === append.links[0]?.spanId));
      expect(batch).toMatchObject({ name: 'append batch', parentSpanId: '' });
      const batches = await until('the batches of the consumers', () => {
        const linked = collector.spans.filter((span) => span.links.some((link) => link.spanId === append.spanId));
        return ['process webhooks', 'process audit', 'process intake'].every((one) => linked.some((span) => span.name === one)) && linked;
      });
      expect(batches.every((span) => span.parentSpanId === '' && span.traceId !== trace)).toBe(true);
      const published = collector.trace(trace).filter((span) => span.name === 'publish review.withdrawn');
      expect(published.map((span) => [span.kind, span.parentSpanId])).toEqual(kafka ? [[PRODUCER, append.spanId]] : []);
      await until('its arrival', () =>
        collector.spans.some(
          (span) => span.name.startsWith('receive ') && span.links.some((link) => link.spanId === (published[0] ?? append).spanId),
        ),
      );
      // Its queries are in it, without what they were asked with.
      const queries = collector.trace(trace).filter((span) => span.attributes['db.system.name'] === 'postgresql');
      expect(queries.map((span) => span.name)).toContain('event_store.read_stream');
      expect(collector.raw.join()).not.toContain('Not needed.');

      await until('the lines of the request and the attempt', () => {
        const lines = collector.logs.filter((line) => line.traceId === trace);
        return ['request', 'delivery attempted'].every((body) =>
          lines.some(
            (line) =>
              line.body === body &&
              line.attributes.review_id === id &&
              line.attributes.project_id === server.topology.credentials.project_id,
          ),
        );
      });
    });

    it('begins at the gateway where the agent brings none, or what cannot be read', async () => {
      for (const [place, traceparent] of ['', 'none-such'].entries()) {
        const { first } = await withdrawn(`/untraced-${place}`, { traceparent });
        await until('all of it', () => lineage(first).length === 7);
        expect(lineage(first)[0]).toMatchObject({ parentSpanId: '', kind: SERVER, service: services.gateway });
      }
    });

    it('is measured: every metric of the catalogue is there, and the resources of the processes', async () => {
      await server.publish({ slug: 'by-the-clock', timeout_seconds: 3_600, timeout_action: 'expire' });
      await server.ask({ template: 'by-the-clock' });
      await server.ask({ priority: 'high' });
      await server.topology.advanceClock(3_601);
      const { id } = await server.ask();
      await server.admin.act(id, 'approve');
      const stream = await Stream.open(server.agent);
      const named = (metric: string) => collector.points.filter((point) => point.metric === metric);
      const ofKafka: MetricDeclaration[] = [METRICS.relayDelay, METRICS.relayPosition, METRICS.relayBehind];
      const expected = Object.values<MetricDeclaration>(METRICS).filter((metric) => kafka || !ofKafka.includes(metric));
      await until(`the metrics: ${expected.filter(({ name }) => named(name).length === 0).map(({ name }) => name)}`, () =>
        expected.every(({ name }) => named(name).length > 0),
      );
      const is = (metric: string, attribute: string, value: string, holds: (value: number) => boolean) =>
        until(`${metric} of ${value}`, () => named(metric).some((point) => point.attributes[attribute] === value && holds(point.value)));
      await is('countersign.review.decisions', 'countersign.review.outcome', 'approved', (times) => times >= 1);
      await is('countersign.review.decisions', 'countersign.review.outcome', 'expired', (times) => times >= 1);
      await is('countersign.review.decisions', 'countersign.review.outcome', 'withdrawn', (times) => times >= 3);
      await is('countersign.review.oldest_pending.age', 'countersign.review.priority', 'high', (age) => age > 3_600);
      // Nobody asked for anything critical: the age is of each priority, and not of all.
      const critical = named('countersign.review.oldest_pending.age').filter(
        ({ attributes }) => attributes['countersign.review.priority'] === 'critical',
      );
      expect(new Set(critical.map(({ value }) => value))).toEqual(new Set([0]));
      await is('countersign.timer.lateness', 'countersign.timer.kind', 'timeout', (times) => times >= 1);
      await until('the stream', () => named('countersign.sse.streams').some(({ value }) => value === 1));
      await stream.close();

      for (const { metric, attributes } of collector.points) {
        const declared = Object.values<MetricDeclaration>(METRICS).find(({ name }) => name === metric);
        expect([metric, Object.keys(attributes).filter((name) => !(name in (declared?.attributes ?? {})))]).toEqual([metric, []]);
      }
      // Spans are used as they want to be: ended once, and not touched afterwards.
      expect(server.topology.inspect().log).not.toMatch(/ended Span|end\(\) on a span/);
      // M1: nothing grows with use; no id of ours is an attribute.
      const ids = /\b(rev|prj|key|per|evt|whd|ses|tpl)_[0-9a-z]{26}/;
      expect(JSON.stringify(collector.points.map(({ attributes }) => attributes))).not.toMatch(ids);
      for (const service of Object.values(services)) {
        expect(collector.resources.get(service)).toMatchObject({
          'service.version': '0.1.0',
          'service.instance.id': expect.stringMatching(/^[0-9a-f-]{36}$/),
        });
      }
    });
  });
}
