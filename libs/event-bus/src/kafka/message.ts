/**
 * An event as a Kafka message, and back: CloudEvents 1.0 in Kafka's binary content mode. The value is the stored body, byte for byte; what
 * CloudEvents names goes into `ce_` headers, the rest of the envelope into extension attributes.
 *
 * `ce_traceparent` and `ce_tracestate` (CloudEvents' distributed tracing) say where the event was appended, `traceparent` where it was sent.
 *
 * A body over `LARGEST_BODY` bytes stays in the store: the message has no value, `ce_dataref` says where the body is and `ce_datadigest`
 * what it must hash to (K12).
 */
import { createHash } from 'node:crypto';
import type { EventMeta, StoredEvent } from '@countersign/event-store';
import { readJson } from '@countersign/evidence';
import type { TraceContext } from '@countersign/telemetry';
import type { IHeaders, KafkaMessage, Message } from 'kafkajs';

export const LARGEST_BODY = 256 * 1024;

/** An event as the relay reads it: ids as TypeIDs, body and metadata as the texts that are stored. */
export interface RelayedEvent extends Omit<StoredEvent, 'body' | 'meta' | 'redacted'> {
  body: string | null;
  meta: string | null;
}

/** Which page of the relay a message belongs to. */
const PAGE = 'countersign_page';

/** Where the event was appended, of its metadata's text. */
export function traceOfMeta(meta: string | null): TraceContext | undefined {
  if (!meta?.includes('"traceparent"')) return undefined;
  const { traceparent, tracestate } = readJson(meta) as EventMeta;
  return traceparent === undefined ? undefined : { traceparent, ...(tracestate === undefined ? {} : { tracestate }) };
}

/** @param hop where in a trace the message is sent. */
export function encodeEvent(event: RelayedEvent, page: string, hop?: TraceContext): Message {
  const { body } = event;
  const byReference = body !== null && Buffer.byteLength(body) > LARGEST_BODY;
  const headers: IHeaders = {
    ce_specversion: '1.0',
    ce_id: event.id,
    ce_source: `/projects/${event.project}`,
    ce_type: event.type,
    ce_subject: event.stream,
    ce_time: event.time,
    ce_category: event.category,
    ce_streamversion: String(event.version),
    ce_position: String(event.position),
    ce_shard: String(event.shard),
    ce_schemaversion: String(event.schemaVersion),
    [PAGE]: page,
  };
  if (event.meta !== null) headers.countersign_meta = event.meta;
  const origin = traceOfMeta(event.meta);
  if (origin !== undefined) headers.ce_traceparent = origin.traceparent;
  if (origin?.tracestate !== undefined) headers.ce_tracestate = origin.tracestate;
  Object.assign(headers, hop);
  if (body !== null) headers['content-type'] = 'application/json';
  if (byReference) {
    headers.ce_dataref = `/events/${event.position}`;
    headers.ce_datadigest = digestOf(body);
  }
  return { key: event.stream, partition: event.bucket, value: byReference ? null : body, headers };
}

/** Where in a trace a message was sent. */
export const hopOf = ({ headers }: Pick<KafkaMessage, 'headers'>): Partial<TraceContext> =>
  headers?.traceparent === undefined ? {} : { traceparent: String(headers.traceparent) };

export interface ReceivedEvent {
  page: string;
  /** Without its body where `reference` is set. */
  event: StoredEvent;
  /** Digest of the body in the store, `sha256:<hex>` of its bytes. */
  reference: string | null;
}

/** @throws {Error} when the message is not one of the relay's. */
export function decodeEvent({ headers = {}, value }: Pick<KafkaMessage, 'headers' | 'value'>, bucket: number): ReceivedEvent {
  const text = (name: string): string => {
    const header = headers[name];
    if (header === undefined) throw new Error(`A message in an event topic has no header ${name}.`);
    return String(header);
  };
  const reference = headers.ce_datadigest === undefined ? null : String(headers.ce_datadigest);
  return {
    page: text(PAGE),
    reference,
    event: {
      position: Number(text('ce_position')),
      shard: Number(text('ce_shard')),
      stream: text('ce_subject'),
      category: text('ce_category'),
      version: Number(text('ce_streamversion')),
      id: text('ce_id'),
      project: text('ce_source').slice('/projects/'.length),
      bucket,
      type: text('ce_type'),
      schemaVersion: Number(text('ce_schemaversion')),
      time: text('ce_time'),
      body: value === null ? null : readJson(value.toString()),
      redacted: value === null && reference === null,
      meta: headers.countersign_meta === undefined ? {} : (readJson(String(headers.countersign_meta)) as StoredEvent['meta']),
    },
  };
}

const digestOf = (body: string): string => `sha256:${createHash('sha256').update(body).digest('hex')}`;

/**
 * The end of a page: what the relay published between two positions. `counts` has the number of messages of each topic's category and
 * partition, so that a consumer knows when it has them all. An empty page says that there is nothing newer.
 */
export interface PageEnd {
  page: string;
  from: number;
  to: number;
  counts: Record<string, number[]>;
}

export const encodePageEnd = (end: PageEnd): Message => ({
  partition: 0,
  value: JSON.stringify(end),
  headers: { 'content-type': 'application/json' },
});

export const decodePageEnd = (value: Buffer): PageEnd => JSON.parse(value.toString()) as PageEnd;
