/** What topics hold may be too little, too much, or written by a relay whose time is over: none of it changes what takes effect. */
import { randomBytes } from 'node:crypto';
import { newId } from '@countersign/event-store';
import { type TestBroker, testBroker } from '@countersign/local-kafka';
import { testDatabase } from '@countersign/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Kafka, logLevel, Partitioners } from 'kafkajs';
import type { Pool, QueryConfig, QueryResult } from 'pg';
import { type Arena, kafkaArena } from '../contract/arena.js';
import { append, createEffects, effectsOf, expectOnceInOrder, recording, until } from '../contract/contract-arena.js';
import type { KafkaEventBus } from './kafka-event-bus.js';
import { readTopic, removeTopics } from './topics.fixture.js';

const run = `order-${randomBytes(4).toString('hex')}`;

interface RelayRow {
  owner: string | null;
  epoch: number;
  position: number;
}

/** A pool on which the relay's own writes wait, as they would in a process whose loop is blocked. */
function stalling(pool: Pool) {
  let released = Promise.resolve();
  let release = () => {};
  const written: QueryResult[] = [];
  let waiting = 0;
  const query = async (statement: QueryConfig | string, values?: unknown[]) => {
    const name = typeof statement === 'string' ? '' : (statement.name ?? '');
    const ofRelay = name === 'event_bus.relayed' || name === 'event_bus.hold_relay';
    if (name === 'event_bus.relayed') waiting++;
    if (ofRelay) await released;
    const result = await pool.query(statement as string, values);
    if (name === 'event_bus.relayed') written.push(result);
    return result;
  };
  return {
    pool: new Proxy(pool, { get: (target, key) => (key === 'query' ? query : Reflect.get(target, key, target)) }),
    stall() {
      released = new Promise((resolve) => {
        release = resolve;
      });
      waiting = 0;
      written.length = 0;
    },
    release: () => release(),
    waiting: () => waiting,
    written,
  };
}

describe('with Kafka', () => {
  let broker: TestBroker;
  let client: Kafka;
  let arena: Arena<KafkaEventBus>;
  let prefix: string;
  let arenas = 0;
  beforeAll(async () => {
    broker = await testBroker(process.env.KAFKA_BROKERS);
    client = new Kafka({ brokers: broker.brokers, clientId: 'plain', logLevel: logLevel.NOTHING });
  }, 180_000);
  afterAll(async () => {
    if (broker?.from === 'KAFKA_BROKERS') await removeTopics(broker.brokers, run);
    await broker?.stop();
  });
  beforeEach(async () => {
    prefix = `${run}.${arenas++}`;
    arena = kafkaArena(await testDatabase(), { brokers: broker.brokers, topicPrefix: prefix });
    await createEffects(arena.ownerPool);
  });
  afterEach(() => arena.close());

  const relay = async () => (await arena.ownerPool.query<RelayRow>('select owner, epoch, position from event_bus.relays')).rows[0];
  const published = () =>
    until(
      async () => [(await relay())?.position, (await arena.store.head()).position],
      ([position, head]) => position === head,
    );
  const streams = (count: number) => new Map(Array.from({ length: count }, () => [newId('rev'), 0]));
  async function appendTo(counts: Map<string, number>): Promise<number> {
    let last = 0;
    for (const stream of counts.keys()) {
      last = await append(arena.store, stream, ['review.requested', 'review.noted']);
      counts.set(stream, (counts.get(stream) ?? 0) + 2);
    }
    return last;
  }
  /** As their retention does with old ones: no message that is in the topics now can be read any more. */
  async function forgetAll(): Promise<void> {
    const admin = client.admin();
    await admin.connect();
    for (const topic of [`${prefix}.review.v1`, `${prefix}.pages.v1`]) {
      const offsets = await admin.fetchTopicOffsets(topic);
      await admin.deleteTopicRecords({ topic, partitions: offsets.map(({ partition, high }) => ({ partition, offset: high })) });
    }
    for (const { low, high } of await admin.fetchTopicOffsets(`${prefix}.pages.v1`)) expect(Number(high) - Number(low)).toBeLessThan(10);
    await admin.disconnect();
  }

  it('a cursor older than what a topic keeps catches up from the store, and then follows the topic again', async () => {
    const counts = streams(10);
    const first = arena.openBus();
    await first.subscribe(recording('old'));
    expect(await first.caughtUp('old', await appendTo(counts), 'all', 60_000)).toBe(true);
    await first.close();
    const other = arena.openBus();
    other.onAppend(() => {});
    for (let i = 0; i < 10; i++) await appendTo(counts);
    await published();
    await forgetAll();

    let reads = 0;
    const store = new Proxy(arena.store, {
      get(target, key) {
        if (key === 'readAll') reads++;
        const value = Reflect.get(target, key, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    const late = arena.openBus({ store });
    await late.subscribe(recording('old'));
    expect(await late.caughtUp('old', (await arena.store.head()).position, 'all', 60_000)).toBe(true);
    expect(reads).toBeGreaterThan(0);
    expectOnceInOrder(await effectsOf(arena.pool, 'old'), counts);

    // It follows the topic when events arrive that nobody has read from the store.
    await until(
      async () => {
        reads = 0;
        expect(await late.caughtUp('old', await appendTo(counts), 'all', 60_000)).toBe(true);
        return reads;
      },
      (count) => count === 0,
    );
    expectOnceInOrder(await effectsOf(arena.pool, 'old'), counts);
  });

  it('a consumer below which the topic was cut off goes on', async () => {
    const counts = streams(10);
    const other = arena.openBus();
    other.onAppend(() => {});
    const member = await arena.spawnMember('cut');
    await appendTo(counts);
    const handled = async () => (await effectsOf(arena.pool, 'cut')).length;
    await until(handled, (count) => count === 20);
    member.signal('SIGSTOP');
    for (let i = 0; i < 5; i++) await appendTo(counts);
    await published();
    await forgetAll();
    member.signal('SIGCONT');
    await until(handled, (count) => count === 120);
    await appendTo(counts);
    await until(handled, (count) => count >= 140);
    expectOnceInOrder(await effectsOf(arena.pool, 'cut'), counts);
  });

  it('a relay that stood still past its lease is fenced: what it still writes changes nothing', async () => {
    const counts = streams(10);
    const blocked = stalling(arena.pool);
    const zombie = arena.openBus({ pool: blocked.pool });
    await zombie.subscribe(recording('fenced', { member: 'zombie' }));
    expect(await zombie.caughtUp('fenced', await appendTo(counts), 'all', 60_000)).toBe(true);
    await published();
    const before = (await relay()) as RelayRow;

    blocked.stall();
    await appendTo(counts);
    // It has sent a page and cannot say so.
    await until(blocked.waiting, (count) => count > 0);
    await arena.ownerPool.query(`update event_bus.relays set lease_until = clock_timestamp() - interval '1 second'`);
    const heir = arena.openBus();
    await heir.subscribe(recording('fenced', { member: 'heir' }));
    await appendTo(counts);
    await published();
    const after = (await relay()) as RelayRow;
    expect(after.epoch).toBeGreaterThan(before.epoch);
    expect(after.owner).not.toBe(before.owner);

    blocked.release();
    await until(
      () => blocked.written,
      ({ length }) => length > 0,
    );
    expect(blocked.written.map(({ rowCount }) => rowCount)).toEqual([0]);
    expect(await relay()).toEqual(after);
    const last = await appendTo(counts);
    expect(await heir.caughtUp('fenced', last, 'all', 60_000)).toBe(true);
    expectOnceInOrder(await effectsOf(arena.pool, 'fenced'), counts);
  });

  it('a process that was stopped past its lease, under load, and goes on doubles and reorders nothing', async () => {
    const counts = streams(10);
    const member = await arena.spawnMember('stopped');
    const first = (await until(relay, (row) => row?.owner != null)) as RelayRow;
    const bus = arena.openBus();
    await bus.subscribe(recording('stopped'));
    await bus.subscribe(recording('witness'));
    const positions: number[] = [];
    const loadUntil = (holds: (row: RelayRow) => boolean) =>
      until(
        async () => {
          await appendTo(counts);
          const row = (await relay()) as RelayRow;
          positions.push(row.position);
          return row;
        },
        holds,
        30_000,
      );
    await loadUntil(({ position }) => position > 60);
    member.signal('SIGSTOP');
    const { position: taken } = await loadUntil(({ owner }) => owner !== first.owner);
    await loadUntil(({ position }) => position > taken + 60);
    member.signal('SIGCONT');
    // It is back when it handles something again.
    const back = (await effectsOf(arena.pool, 'stopped')).length;
    await until(
      async () => {
        await loadUntil(() => true);
        return (await effectsOf(arena.pool, 'stopped')).slice(back);
      },
      (effects) => effects.some((effect) => effect.member === 'process'),
    );
    const { position } = await arena.store.head();
    for (const group of ['stopped', 'witness']) {
      expect(await bus.caughtUp(group, position, 'all', 60_000)).toBe(true);
      expectOnceInOrder(await effectsOf(arena.pool, group), counts);
    }
    expect(positions).toEqual([...positions].sort((a, b) => a - b));
    member.signal('SIGKILL');
    await member.ended;
  });

  it('copies of all that was ever published, in any order, change nothing', async () => {
    const counts = streams(10);
    const bus = arena.openBus();
    await bus.subscribe(recording('copies'));
    for (let i = 0; i < 5; i++) expect(await bus.caughtUp('copies', await appendTo(counts), 'all', 60_000)).toBe(true);
    await published();
    const topics = [`${prefix}.review.v1`, `${prefix}.pages.v1`];
    const [events, ends] = await Promise.all([readTopic(client, topics[0] as string, 100), readTopic(client, topics[1] as string, 5)]);
    const zombie = client.producer({ createPartitioner: Partitioners.DefaultPartitioner });
    await zombie.connect();
    for (const order of [[...events], [...events].reverse()]) {
      await zombie.send({
        topic: topics[0] as string,
        messages: order.map(({ key, value, headers, partition }) => ({ key, value, headers, partition })),
      });
      await zombie.send({ topic: topics[1] as string, messages: ends.map(({ value, headers }) => ({ value, headers, partition: 0 })) });
      for (let i = 0; i < 5; i++) expect(await bus.caughtUp('copies', await appendTo(counts), 'all', 60_000)).toBe(true);
    }
    await zombie.disconnect();
    expectOnceInOrder(await effectsOf(arena.pool, 'copies'), counts);
  });
});
