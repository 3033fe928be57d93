import { newId } from '@countersign/event-store';
import { describe, expect, it } from '@jest/globals';
import { decodeEvent, encodeEvent, hopOf, LARGEST_BODY, type RelayedEvent } from './message.js';

const relayed = (own: Partial<RelayedEvent>): RelayedEvent => ({
  position: 12,
  shard: 0,
  stream: newId('rev'),
  category: 'review',
  version: 3,
  id: newId('evt'),
  project: newId('prj'),
  bucket: 7,
  type: 'review.requested',
  schemaVersion: 1,
  time: '2030-01-01T00:00:00.123Z',
  body: '{"a":"\\u0000 ü 🤖","b":1e-7}',
  meta: '{"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}',
  ...own,
});
/** As the broker hands it on: headers and values as bytes. */
function carried(event: RelayedEvent) {
  const { headers = {}, value, partition, key } = encodeEvent(event, 'page-1');
  return {
    partition,
    key,
    value: value === null ? null : Buffer.from(value as string),
    headers: Object.fromEntries(Object.entries(headers).map(([name, text]) => [name, Buffer.from(String(text))])),
  };
}

describe('an event as a Kafka message', () => {
  it('is a CloudEvent in binary mode whose value is the stored body, byte for byte', () => {
    const event = relayed({});
    const message = carried(event);
    expect(message.value?.toString()).toBe(event.body);
    expect([message.partition, message.key]).toEqual([7, event.stream]);
    const headers = Object.fromEntries(Object.entries(message.headers).map(([name, bytes]) => [name, bytes.toString()]));
    expect(headers).toMatchObject({
      ce_specversion: '1.0',
      ce_id: event.id,
      ce_source: `/projects/${event.project}`,
      ce_type: 'review.requested',
      ce_subject: event.stream,
      ce_time: event.time,
      'content-type': 'application/json',
    });
    for (const name of Object.keys(headers).filter((one) => one.startsWith('ce_'))) expect(name).toMatch(/^ce_[a-z0-9]{1,20}$/);
  });

  it('says where it was appended, and apart from that where it was sent', () => {
    const trace = '00-0af7651916cd43dd8448eb211c80319c-';
    const event = relayed({ meta: `{"traceparent":"${trace}b7ad6b7169203331-01","tracestate":"vendor=a1"}` });
    const hop = { traceparent: `${trace}00f067aa0ba902b7-01`, tracestate: 'vendor=a1' };
    const { headers = {} } = encodeEvent(event, 'page-1', hop);
    expect(headers).toMatchObject({ ...hop, ce_traceparent: `${trace}b7ad6b7169203331-01`, ce_tracestate: 'vendor=a1' });
    expect(hopOf({ headers: { traceparent: Buffer.from(hop.traceparent) } })).toEqual({ traceparent: hop.traceparent });
    const { headers: untraced } = encodeEvent(relayed({ meta: '{"request_id":"\\"traceparent\\""}' }), 'page-1');
    expect(Object.keys(untraced ?? {}).filter((name) => name.includes('trace'))).toEqual([]);
    expect(hopOf({ headers: {} })).toEqual({});
  });

  it('is the same event when it is read', () => {
    const event = relayed({});
    const { event: read, page, reference } = decodeEvent(carried(event), 7);
    const { body, meta, ...envelope } = event;
    expect(read).toEqual({ ...envelope, body: JSON.parse(body as string), meta: JSON.parse(meta as string), redacted: false });
    expect([page, reference]).toEqual(['page-1', null]);
  });

  it('has no value when the body was redacted', () => {
    expect(decodeEvent(carried(relayed({ body: null, meta: null })), 7)).toMatchObject({
      reference: null,
      event: { body: null, redacted: true, meta: {} },
    });
  });

  it('refers to a body that is too large to carry', () => {
    const large = carried(relayed({ body: JSON.stringify({ text: 'x'.repeat(LARGEST_BODY) }) }));
    expect(large.value).toBeNull();
    expect(decodeEvent(large, 7)).toMatchObject({
      reference: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
      event: { body: null, redacted: false },
    });
  });

  it('is refused when it is none of the relay’s', () => {
    expect(() => decodeEvent({ headers: {}, value: Buffer.from('{}') }, 0)).toThrow(/no header countersign_page/);
  });
});
