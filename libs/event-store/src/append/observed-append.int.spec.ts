import { inTransaction } from '@countersign/database';
import { traced } from '@countersign/telemetry';
import { collectTelemetry, type ReceivedSpan, type TestDatabase, testDatabase } from '@countersign/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId, PostgresEventStore, type StoredEvent } from '../index.js';

const AGENT = { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', tracestate: 'vendor=a1' };
const project = newId('prj');

let telemetry: Awaited<ReturnType<typeof collectTelemetry>>;
let db: TestDatabase;
let store: PostgresEventStore;
beforeAll(async () => {
  telemetry = await collectTelemetry();
  db = await testDatabase();
  store = new PostgresEventStore({ pool: db.pool, writer: 'test', categories: { review: 'rev' } });
});
afterAll(async () => {
  await store.close();
  await db.close();
  await telemetry.end();
});

const add = (stream: string, expectedVersion: number | 'any' = 'any') =>
  store.append({
    streams: [{ stream, project, expectedVersion, events: [{ type: 'review.noted', body: { secret: 'marked' } }] }],
    meta: {},
  });
const placeOf = (span: ReceivedSpan | undefined) => `00-${span?.traceId}-${span?.spanId}-01`;

describe('appends that are observed', () => {
  it('keep their span with the event, and batches are linked with the appends they served', async () => {
    const streams = [newId('rev'), newId('rev'), newId('rev')];
    await traced('asked', { parent: AGENT }, () => Promise.all(streams.map((stream) => add(stream))));
    await traced('other', { parent: null }, async () => {
      expect((await add(streams[0] as string, 7)).status).toBe('conflict');
      await store.readStream(streams[0] as string);
      await expect(db.pool.query('select 1 / (length($1) - 6) from event_store.events', ['marked'])).rejects.toThrow();
      await inTransaction(db.pool, (tx) => tx.query({ name: 'notes.count', text: 'select count(*) from event_store.head' }));
    });
    await db.pool.query('select from event_store.head');
    const stored = (await Promise.all(streams.map((stream) => store.readStream(stream)))).flatMap(({ events }) => events) as StoredEvent[];
    // While callers wait for a connection, another's query gives it to them: each stays in its own trace.
    await Promise.all(
      Array.from({ length: 30 }, (_, n) =>
        traced(`caller ${n}`, { parent: null }, () => db.pool.query('select pg_sleep(0.002) from event_store.head')),
      ),
    );
    // More than a span may have links: the batch names some of them, and nothing complains.
    await traced('many', { parent: null }, () => Promise.all(Array.from({ length: 300 }, () => add(newId('rev')))));
    await telemetry.end();
    expect(telemetry.complaints).toEqual([]);

    const { receiver } = telemetry;
    const named = (name: string) => receiver.spans.filter((span) => span.name === name);
    const [asked] = named('asked');
    const [many] = named('many');
    const isOfMany = ({ traceId }: { traceId: string }) => traceId === many?.traceId;
    const all = named('append review.noted');
    expect(all.filter(isOfMany).map(({ links }) => links.length)).toEqual(Array(300).fill(1));
    const appends = all.filter((span) => !isOfMany(span));
    const ours = appends.filter((span) => span.traceId === asked?.traceId);
    expect(ours.map((span) => span.parentSpanId)).toEqual([asked?.spanId, asked?.spanId, asked?.spanId]);
    expect(new Set(stored.map(({ meta }) => meta.traceparent))).toEqual(new Set(ours.map(placeOf)));
    expect(stored.every(({ meta }) => meta.tracestate === AGENT.tracestate)).toBe(true);
    expect(ours[0]?.attributes).toMatchObject({
      'messaging.system': 'countersign',
      'messaging.operation.name': 'append',
      'messaging.operation.type': 'send',
      'messaging.destination.name': 'rev',
      'countersign.append.result': 'appended',
      'countersign.service': 'test',
      'countersign.project.id': project,
    });

    const batches = named('append batch');
    expect(batches.every((batch) => batch.parentSpanId === '' && batch.traceId !== asked?.traceId)).toBe(true);
    const linked = batches.flatMap(({ links }) => links).filter((link) => !isOfMany(link));
    expect(linked.map((link) => link.spanId).sort()).toEqual(appends.map((span) => span.spanId).sort());
    expect(Math.max(...batches.map(({ links }) => links.length))).toBe(128);
    for (const append of appends) {
      expect(batches.map((batch) => batch.spanId)).toContain(append.links[0]?.spanId);
    }

    const [other] = named('other');
    const queries = receiver.spans.filter((span) => span.attributes['db.system.name'] && span.parentSpanId === other?.spanId);
    expect(queries.map((span) => span.name)).toEqual([
      'event_store.read_stream',
      'SELECT event_store.events',
      'BEGIN',
      'notes.count',
      'COMMIT',
    ]);
    expect(queries.filter((span) => span.failed).map((span) => span.attributes['db.response.status_code'])).toEqual(['22012']);
    expect(named('SELECT event_store.head').every((span) => span.parentSpanId !== '')).toBe(true);
    for (const span of named('SELECT event_store.head')) {
      const parent = receiver.spans.find((one) => one.spanId === span.parentSpanId);
      expect([parent?.name, parent?.traceId]).toEqual([expect.stringMatching(/^caller \d+$/), span.traceId]);
    }
    expect(new Set(named('SELECT event_store.head').map((span) => span.parentSpanId)).size).toBe(30);
    expect(receiver.raw.join()).not.toMatch(/marked|pg_sleep/);

    const values = (metric: string) => receiver.points.filter((point) => point.metric === metric);
    expect(values('countersign.append.requests').map(({ attributes }) => attributes['countersign.append.result'])).toEqual(
      expect.arrayContaining(['appended', 'conflict']),
    );
    expect(values('countersign.append.batch.size')).not.toEqual([]);
    expect(values('db.client.connection.max')[0]).toMatchObject({ attributes: { 'db.client.connection.pool.name': expect.any(String) } });
  });
});
