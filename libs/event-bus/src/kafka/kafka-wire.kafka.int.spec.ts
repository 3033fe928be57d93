/** What lies in the topics, as a consumer that knows nothing of this code reads it. */
import { createHash, randomBytes } from 'node:crypto';
import { newId, type StoredEvent } from '@countersign/event-store';
import { canonicalize } from '@countersign/evidence';
import { type TestBroker, testBroker } from '@countersign/local-kafka';
import { createLogger } from '@countersign/telemetry';
import { testDatabase } from '@countersign/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type Admin, Kafka, type KafkaMessage, logLevel } from 'kafkajs';
import { type Arena, kafkaArena } from '../contract/arena.js';
import { append, createEffects, effectsOf, recording, until } from '../contract/contract-arena.js';
import type { KafkaEventBus } from './kafka-event-bus.js';
import { encodeEvent, encodePageEnd, LARGEST_BODY, type PageEnd } from './message.js';
import { readTopic, removeTopics } from './topics.fixture.js';

const run = `wire-${randomBytes(4).toString('hex')}`;

describe('in Kafka', () => {
  let broker: TestBroker;
  let client: Kafka;
  let admin: Admin;
  let arena: Arena<KafkaEventBus>;
  let prefix: string;
  let arenas = 0;
  beforeAll(async () => {
    broker = await testBroker(process.env.KAFKA_BROKERS);
    client = new Kafka({ brokers: broker.brokers, clientId: 'plain', logLevel: logLevel.NOTHING });
    admin = client.admin();
    await admin.connect();
  }, 180_000);
  afterAll(async () => {
    await admin?.disconnect();
    if (broker?.from === 'KAFKA_BROKERS') await removeTopics(broker.brokers, run);
    await broker?.stop();
  });
  beforeEach(async () => {
    prefix = `${run}.${arenas++}`;
    arena = kafkaArena(await testDatabase(), { brokers: broker.brokers, topicPrefix: prefix });
    await createEffects(arena.ownerPool);
  });
  afterEach(() => arena.close());

  const published = () =>
    until(
      async () => (await arena.pool.query('select r.position, h.position as head from event_bus.relays r, event_store.head h')).rows,
      ([row]) => row !== undefined && row.position === row.head,
    );

  it('a topic has a partition for each bucket, and forgets after a day', async () => {
    await arena.openBus().subscribe(recording('topics'));
    const topics = [`${prefix}.pages.v1`, `${prefix}.review.v1`, `${prefix}.template.v1`];
    await until(
      () => admin.listTopics(),
      (made) => topics.every((topic) => made.includes(topic)),
    );
    const metadata = await admin.fetchTopicMetadata({ topics });
    const partitions = metadata.topics.map(({ name, partitions }) => [name, partitions.length]);
    expect(Object.fromEntries(partitions)).toEqual({
      [`${prefix}.pages.v1`]: 1,
      [`${prefix}.review.v1`]: 12,
      [`${prefix}.template.v1`]: 12,
    });
    const { resources } = await admin.describeConfigs({
      includeSynonyms: false,
      resources: topics.map((name) => ({ type: 2, name, configNames: ['retention.ms'] })),
    });
    expect(resources.map(({ configEntries }) => configEntries[0]?.configValue)).toEqual(Array(3).fill('86400000'));
    // Whoever comes later finds them as they are.
    await arena.openBus().subscribe(recording('topics'));
  });

  it('a topic with another number of partitions is refused in one sentence', async () => {
    await admin.createTopics({ topics: [{ topic: `${prefix}.review.v1`, numPartitions: 3, replicationFactor: -1 }] });
    await expect(arena.openBus().subscribe(recording('refused'))).rejects.toThrow(
      `Kafka topic ${prefix}.review.v1 has 3 partitions and must have 12: events of one stream would change their place. Remove the topic, or set another KAFKA_TOPIC_PREFIX.`,
    );
  });

  it('a message is the event in CloudEvents’ binary mode: its stored bytes, and nothing else', async () => {
    await arena.openBus().subscribe(recording('messages'));
    const project = newId('prj');
    const meta = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' };
    const bodies = [{ text: 'ü 🤖 \u0001 "\\', n: 1e-7, nested: [null, true, { b: 1, a: 2 }] }, {}, { empty: '' }];
    for (const body of bodies) {
      const events = [{ type: 'review.requested', body, schemaVersion: 1 }];
      await arena.store.append({ streams: [{ stream: newId('rev'), project, expectedVersion: 'any', events }], meta });
    }
    await published();

    const { rows } = await arena.ownerPool.query<{ body: string; meta: string }>(
      'select body, meta from event_store.events order by position',
    );
    const events = await arena.store.readAll({ after: 0, limit: 10 });
    const messages = (await readTopic(client, `${prefix}.review.v1`, bodies.length)).sort((a, b) => position(a) - position(b));
    expect(messages).toHaveLength(bodies.length);
    for (const [index, { key, value, headers, partition }] of messages.entries()) {
      const event = events[index] as StoredEvent;
      const stored = rows[index] as { body: string; meta: string };
      expect([key?.toString(), partition]).toEqual([event.stream, event.bucket]);
      expect(value).toEqual(Buffer.from(stored.body));
      const { countersign_page, ...rest } = Object.fromEntries(Object.entries(headers ?? {}).map(([name, bytes]) => [name, String(bytes)]));
      expect(countersign_page).toMatch(/^\d+-\d+-\d+$/);
      expect(rest).toEqual({
        'content-type': 'application/json',
        ce_specversion: '1.0',
        ce_id: event.id,
        ce_source: `/projects/${project}`,
        ce_traceparent: meta.traceparent,
        ce_type: 'review.requested',
        ce_subject: event.stream,
        ce_time: event.time,
        ce_category: 'review',
        ce_streamversion: '1',
        ce_position: String(index + 1),
        ce_shard: '0',
        ce_schemaversion: '1',
        countersign_meta: stored.meta,
      });
      expect(JSON.parse(stored.meta)).toMatchObject(meta);
    }
  });

  it('a body over 256 KB is a reference, and arrives byte for byte', async () => {
    const seen: StoredEvent[] = [];
    const bus = arena.openBus();
    await bus.subscribe(recording('large', { before: (events) => void seen.push(...events) }));
    const frame = '{"text":""}'.length;
    const texts = [LARGEST_BODY - frame, LARGEST_BODY - frame + 1, 900_000].map((length) =>
      randomBytes(length).toString('base64').slice(0, length),
    );
    let last = 0;
    for (const text of texts) last = await append(arena.store, newId('rev'), ['review.requested'], { text });
    expect(await bus.caughtUp('large', last, 'all', 60_000)).toBe(true);
    await published();

    const { rows } = await arena.ownerPool.query<{ body: string }>('select body from event_store.events order by position');
    expect(rows.map(({ body }) => body.length)).toEqual([LARGEST_BODY, LARGEST_BODY + 1, 900_000 + frame]);
    expect(seen.map(({ body }) => canonicalize(body))).toEqual(rows.map(({ body }) => body));
    const messages = (await readTopic(client, `${prefix}.review.v1`, 3)).sort((a, b) => position(a) - position(b));
    expect(messages.map(({ value }) => value?.length ?? null)).toEqual([LARGEST_BODY, null, null]);
    expect(messages.map(({ headers }) => [headers?.ce_dataref, headers?.ce_datadigest].map((header) => header?.toString()))).toEqual([
      [undefined, undefined],
      ...[1, 2].map((index) => [
        `/events/${index + 1}`,
        `sha256:${createHash('sha256')
          .update(rows[index]?.body ?? '')
          .digest('hex')}`,
      ]),
    ]);
    expect(await effectsOf(arena.pool, 'large')).toHaveLength(3);
  });

  it('a reference to another body than the store has is not believed: consumers take the event from the store', async () => {
    const seen: StoredEvent[] = [];
    const said: string[] = [];
    const destination = { write: (line: string) => void said.push((JSON.parse(line) as { msg: string }).msg) };
    // The relay is somebody else, who publishes what this test says.
    await arena.ownerPool.query(
      `insert into event_bus.relays (shard, position, owner, lease_until) values (0, 0, gen_random_uuid(), 'infinity')`,
    );
    const bus = arena.openBus({ logger: createLogger({ service: 'wire', level: 'error', destination }) });
    await bus.subscribe(recording('strange', { before: (events) => void seen.push(...events) }));
    const producer = client.producer();
    await producer.connect();
    const endPage = (end: Omit<PageEnd, 'page' | 'from'>, page: string) =>
      producer.send({ topic: `${prefix}.pages.v1`, messages: [encodePageEnd({ page, from: 0, ...end })] });
    // It is not known what a consumer hears until it is known that it hears.
    await until(
      () => bus.health(),
      ({ ok }) => !ok,
      20_000,
    );
    await until(
      async () => {
        await endPage({ to: 0, counts: {} }, '1-idle-0');
        return bus.health();
      },
      ({ ok }) => ok,
      20_000,
    );

    const text = 'x'.repeat(LARGEST_BODY);
    const last = await append(arena.store, newId('rev'), ['review.requested'], { text });
    const [event] = (await arena.store.readAll({ after: 0, limit: 1 })) as [StoredEvent];
    const other = canonicalize({ text: text.replace('x', 'y') });
    const page = `1-0-${last}`;
    await producer.send({ topic: `${prefix}.review.v1`, messages: [encodeEvent({ ...event, body: other, meta: null }, page)] });
    await endPage({ to: last, counts: { review: Array.from({ length: 12 }, (_, bucket) => (bucket === event.bucket ? 1 : 0)) } }, page);
    expect(await bus.caughtUp('strange', last, 'all', 60_000)).toBe(true);
    await producer.disconnect();
    expect(said).toEqual(['a message contradicts the store: its page is left out, and consumers read the store']);
    expect(seen.map(({ body }) => body)).toEqual([{ text }]);
  });
});

const position = ({ headers }: KafkaMessage): number => Number(headers?.ce_position);
