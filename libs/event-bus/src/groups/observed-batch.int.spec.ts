import { newId, PostgresEventStore, type StoredEvent } from '@countersign/event-store';
import { createLogger, traced } from '@countersign/telemetry';
import { collectTelemetry, type TestDatabase, testDatabase } from '@countersign/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { duringEvent, Retryable, StoreEventBus, traceOf } from '../index.js';

const AGENT = { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' };
const project = newId('prj');

let telemetry: Awaited<ReturnType<typeof collectTelemetry>>;
let db: TestDatabase;
let store: PostgresEventStore;
let bus: StoreEventBus;
beforeAll(async () => {
  telemetry = await collectTelemetry();
  db = await testDatabase();
  store = new PostgresEventStore({ pool: db.pool, writer: 'test', categories: { review: 'rev' } });
  bus = new StoreEventBus({
    pool: db.pool,
    store,
    connectionString: db.ownerUrl,
    logger: createLogger({ service: 'test', level: 'silent' }),
  });
});
afterAll(async () => {
  await bus.close();
  await store.close();
  await db.close();
  await telemetry.end();
});

const add = (stream: string, type: string) =>
  store.append({ streams: [{ stream, project, expectedVersion: 'any', events: [{ type, body: {} }] }], meta: {} });

describe('batches that are observed', () => {
  it('are spans of their own; each event’s goes on where it was appended, and so does what follows from it', async () => {
    const streams = Array.from({ length: 3 }, () => newId('rev'));
    await traced('agent', { parent: AGENT }, () => add(streams[0] as string, 'review.asked'));
    for (const stream of streams.slice(1)) await traced('somebody', { parent: null }, () => add(stream, 'review.asked'));
    const traces = new Map<string, string | undefined>();
    let attempts = 0;
    await bus.subscribe({
      group: 'followers',
      categories: ['review'],
      handles: ['review.asked'],
      leaves: ['review.followed'],
      async onBatch(events, { replay, tx }) {
        if (attempts++ === 0) throw new Retryable('Not yet.', { retryAfterMs: 1 });
        await tx.query('select from event_store.head');
        for (const event of events) {
          traces.set(event.id, traceOf(event)?.traceparent);
          if (!replay) await duringEvent(event, () => add(event.stream, 'review.followed'));
        }
      },
    });
    // The events themselves are shared with every other group of the process.
    const others = ['second', 'third'];
    for (const group of others) {
      await bus.subscribe({
        group,
        categories: ['review'],
        handles: ['review.asked', 'review.followed'],
        leaves: [],
        onBatch: async () => {},
      });
    }
    const { position } = await store.head();
    expect(await bus.caughtUp('followers', position, 'all', 60_000)).toBe(true);
    await bus.seek('followers', 0);
    for (const group of ['followers', ...others]) {
      expect(await bus.caughtUp(group, (await store.head()).position, 'all', 60_000)).toBe(true);
    }
    const stored = (await Promise.all(streams.map((stream) => store.readStream(stream)))).flatMap(({ events }) => events) as StoredEvent[];
    await telemetry.end();

    const { receiver, complaints } = telemetry;
    expect(complaints).toEqual([]);
    // Nothing follows from an event in these groups: their batches say by their links what they handled.
    for (const group of others) {
      expect(receiver.spans.filter((span) => span.name.startsWith('process review.') && span.name.endsWith(` ${group}`))).toEqual([]);
      const handled = receiver.spans.filter((span) => span.name === `process ${group}`).flatMap(({ links }) => links);
      expect(handled.map((link) => link.spanId).sort()).toEqual(stored.map(({ meta }) => meta.traceparent?.slice(36, 52)).sort());
    }
    const spanOf = (traceparent: string | undefined) => receiver.spans.find((span) => span.spanId === traceparent?.slice(36, 52));
    const batches = receiver.spans.filter((span) => span.name === 'process followers');
    const events = receiver.spans.filter((span) => span.name === 'process review.asked followers');
    const processes = { 'messaging.operation.name': 'process', 'messaging.operation.type': 'process', 'messaging.system': 'countersign' };
    for (const batch of batches) expect(batch.attributes).toMatchObject({ ...processes, 'messaging.consumer.group.name': 'followers' });
    for (const event of events) expect(event.attributes).toMatchObject({ ...processes, 'messaging.destination.name': 'review' });
    const [failed] = batches;
    expect(failed).toMatchObject({ failed: true, parentSpanId: '', attributes: { 'error.type': 'Retryable' } });
    const asked = stored.filter((event) => event.type === 'review.asked');
    expect(failed?.links.map((link) => link.spanId).sort()).toEqual(asked.map(({ meta }) => meta.traceparent?.slice(36, 52)).sort());
    for (const event of asked) {
      const own = events.filter((span) => span.parentSpanId === spanOf(event.meta.traceparent)?.spanId && !span.failed);
      expect(own).toHaveLength(1);
      expect(batches.map((batch) => batch.spanId)).toContain(own[0]?.links[0]?.spanId);
      const followed = stored.find(({ type, stream }) => type === 'review.followed' && stream === event.stream);
      expect(spanOf(followed?.meta.traceparent)).toMatchObject({ traceId: own[0]?.traceId, parentSpanId: own[0]?.spanId });
    }
    const agents = asked.find((event) => event.stream === streams[0]);
    expect(spanOf(agents?.meta.traceparent)?.traceId).toBe(AGENT.traceparent.slice(3, 35));
    // The replay came last, had no spans of events, and says where each event was appended.
    expect(batches.filter((batch) => batch.attributes['countersign.replay'] === true)).not.toEqual([]);
    expect(traces.get(agents?.id ?? '')).toBe(agents?.meta.traceparent);
    const queries = receiver.spans.filter((span) => span.name === 'SELECT event_store.head');
    expect(batches.map((batch) => batch.spanId)).toEqual(expect.arrayContaining(queries.map((span) => span.parentSpanId)));
    // Those that were there before the bus began were read by the group itself.
    const arrivals = receiver.spans.filter((span) => span.name === 'receive event_store');
    expect(arrivals.flatMap((span) => span.links)).toHaveLength(3);
    for (const arrival of arrivals) {
      expect(arrival.attributes).toMatchObject({
        'messaging.system': 'countersign',
        'messaging.operation.name': 'receive',
        'messaging.operation.type': 'receive',
        'messaging.destination.name': 'event_store',
      });
    }

    const last = (metric: string, group = 'followers') =>
      receiver.points.findLast(
        (point) => point.metric === metric && [group, undefined].includes(point.attributes['countersign.group'] as string),
      );
    expect(last('countersign.consumer.lag')).toMatchObject({ value: 0 });
    expect(last('countersign.consumer.parked')).toMatchObject({ value: 0 });
    expect(last('countersign.bus.healthy')).toMatchObject({ value: 1 });
    expect(receiver.points.filter((point) => point.metric === 'countersign.consumer.events').map((point) => point.attributes)).toEqual(
      expect.arrayContaining([
        { 'countersign.group': 'followers', 'countersign.outcome': 'failed' },
        { 'countersign.group': 'followers', 'countersign.outcome': 'handled' },
      ]),
    );
  });
});
