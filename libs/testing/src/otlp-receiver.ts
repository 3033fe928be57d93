/** A collector: a real HTTP server on loopback that keeps the traces, metrics and logs it is sent as OTLP/JSON. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';

export interface ReceivedSpan {
  name: string;
  /** 1 internal, 2 server, 3 client, 4 producer, 5 consumer. */
  kind: number;
  traceId: string;
  spanId: string;
  /** Empty where the span begins its trace. */
  parentSpanId: string;
  attributes: Record<string, unknown>;
  links: { traceId: string; spanId: string }[];
  /** `service.name` of who sent it. */
  service: string;
  failed: boolean;
}

export interface ReceivedPoint {
  metric: string;
  attributes: Record<string, unknown>;
  /** Of a histogram its count. */
  value: number;
  service: string;
}

export interface ReceivedLog {
  body: string;
  attributes: Record<string, unknown>;
  traceId: string;
  service: string;
}

interface Attribute {
  key: string;
  value: Value;
}
interface Value {
  stringValue?: string;
  intValue?: number | string;
  doubleValue?: number;
  boolValue?: boolean;
  arrayValue?: { values: Value[] };
  kvlistValue?: { values: Attribute[] };
}
interface Resource {
  resource: { attributes: Attribute[] };
}
type Point = { attributes: Attribute[]; asInt?: number | string; asDouble?: number; count?: number | string };
interface Metric {
  name: string;
  unit: string;
  sum?: { dataPoints: Point[] };
  gauge?: { dataPoints: Point[] };
  histogram?: { dataPoints: Point[] };
}
type Span = Omit<ReceivedSpan, 'attributes' | 'links' | 'failed'> & {
  attributes?: Attribute[];
  links?: { traceId: string; spanId: string }[];
  status?: { code?: number };
};
type Log = { body?: Value; attributes?: Attribute[]; traceId?: string };

export class OtlpReceiver {
  readonly spans: ReceivedSpan[] = [];
  readonly points: ReceivedPoint[] = [];
  readonly logs: ReceivedLog[] = [];
  /** Resource attributes, by `service.name`. */
  readonly resources = new Map<string, Record<string, unknown>>();
  /** Everything that arrived, as it arrived. */
  readonly raw: string[] = [];
  /** Content types that arrived. */
  readonly types = new Set<string>();
  readonly #server = createServer((request, response) => {
    void request.toArray().then((chunks) => {
      const bytes = Buffer.concat(chunks);
      const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes;
      this.types.add(String(request.headers['content-type']));
      this.raw.push(body.toString('utf8'));
      if (request.headers['content-type'] === 'application/json') this.#receive(request.url ?? '', JSON.parse(body.toString('utf8')));
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Settings under which a program sends everything here, soon. */
  get settings(): Record<string, string> {
    return {
      OTEL_EXPORTER_OTLP_ENDPOINT: this.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_BSP_SCHEDULE_DELAY: '100',
      OTEL_METRIC_EXPORT_INTERVAL: '500',
    };
  }

  trace(traceId: string): ReceivedSpan[] {
    return this.spans.filter((span) => span.traceId === traceId);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #receive(path: string, body: { resourceSpans?: unknown; resourceMetrics?: unknown; resourceLogs?: unknown }): void {
    if (path === '/v1/traces') this.#spans(body.resourceSpans as (Resource & { scopeSpans: { spans: Span[] }[] })[]);
    else if (path === '/v1/metrics') this.#metrics(body.resourceMetrics as (Resource & { scopeMetrics: { metrics: Metric[] }[] })[]);
    else if (path === '/v1/logs') this.#logs(body.resourceLogs as (Resource & { scopeLogs: { logRecords: Log[] }[] })[]);
  }

  #serviceOf({ resource }: Resource): string {
    const attributes = attributesOf(resource.attributes);
    const service = String(attributes['service.name']);
    this.resources.set(service, attributes);
    return service;
  }

  #spans(resources: (Resource & { scopeSpans: { spans: Span[] }[] })[]): void {
    for (const one of resources) {
      const service = this.#serviceOf(one);
      for (const { name, kind, traceId, spanId, parentSpanId, attributes, links, status } of one.scopeSpans.flatMap(({ spans }) => spans)) {
        this.spans.push({
          name,
          kind,
          traceId,
          spanId,
          parentSpanId: parentSpanId ?? '',
          attributes: attributesOf(attributes),
          links: (links ?? []).map((link) => ({ traceId: link.traceId, spanId: link.spanId })),
          service,
          failed: status?.code === 2,
        });
      }
    }
  }

  #metrics(resources: (Resource & { scopeMetrics: { metrics: Metric[] }[] })[]): void {
    for (const one of resources) {
      const service = this.#serviceOf(one);
      for (const { name, sum, gauge, histogram } of one.scopeMetrics.flatMap(({ metrics }) => metrics)) {
        for (const point of (sum ?? gauge ?? histogram)?.dataPoints ?? []) {
          const value = Number(point.asInt ?? point.asDouble ?? point.count);
          this.points.push({ metric: name, attributes: attributesOf(point.attributes), value, service });
        }
      }
    }
  }

  #logs(resources: (Resource & { scopeLogs: { logRecords: Log[] }[] })[]): void {
    for (const one of resources) {
      const service = this.#serviceOf(one);
      for (const { body, attributes, traceId } of one.scopeLogs.flatMap(({ logRecords }) => logRecords)) {
        this.logs.push({ body: String(valueIn(body ?? {})), attributes: attributesOf(attributes), traceId: traceId ?? '', service });
      }
    }
  }
}

function attributesOf(attributes: readonly Attribute[] = []): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, valueIn(value)]));
}

function valueIn(value: Value): unknown {
  if (value.arrayValue) return value.arrayValue.values.map(valueIn);
  if (value.kvlistValue) return attributesOf(value.kvlistValue.values);
  if (value.intValue !== undefined) return Number(value.intValue);
  return value.stringValue ?? value.doubleValue ?? value.boolValue;
}
