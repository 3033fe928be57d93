/**
 * Brokers that die, and brokers that do not answer, under load. Judged from what was recorded: every appended event took effect once, in the
 * order of its key. These tests do things to their broker, so it is always one of their own.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { newId } from '@countersign/event-store';
import { type LocalKafka, startLocalKafka } from '@countersign/local-kafka';
import { createLogger } from '@countersign/telemetry';
import { collectTelemetry, testDatabase } from '@countersign/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type Arena, kafkaArena } from '../contract/arena.js';
import {
  append,
  createEffects,
  effectsOf,
  expectOnceInOrder,
  HANDLED,
  heldMegabytes,
  recording,
  until,
} from '../contract/contract-arena.js';
import type { KafkaEventBus } from './kafka-event-bus.js';

/** Seconds the brokers do not answer, and the client has its own settings; when not given, as long as it takes it to give up three times. */
const OUTAGE = Number(process.env.KAFKA_OUTAGE ?? 0);
const LIMIT_MS = 240_000 + OUTAGE * 1_000;

/** Appends to a few streams at once until told to stop, and knows how many events each has. */
function load(arena: Arena<KafkaEventBus>) {
  const counts = new Map(Array.from({ length: 12 }, () => [newId('rev'), 0]));
  let going = true;
  const producers = [...counts.keys()].map(async (stream, index) => {
    for (let i = index; going; i++) {
      const types = [HANDLED[i % 3] as string, HANDLED[(i + 1) % 3] as string];
      await append(arena.store, stream, types, { text: 'x'.repeat(2_000) });
      counts.set(stream, (counts.get(stream) ?? 0) + types.length);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  });
  return {
    counts,
    total: () => [...counts.values()].reduce((sum, count) => sum + count, 0),
    async stop() {
      going = false;
      await Promise.all(producers);
    },
  };
}

/** Keeps what a bus logs, by message. */
function listening() {
  const said: string[] = [];
  const destination = new Writable({
    write(chunk, _, done) {
      for (const line of String(chunk).trim().split('\n')) said.push((JSON.parse(line) as { msg: string }).msg);
      done();
    },
  });
  return {
    logger: createLogger({ service: 'outage', level: 'info', destination }),
    times: (start: string) => said.filter((message) => message.startsWith(start)).length,
  };
}

describe('the Kafka adapter, when the brokers', () => {
  let folder: string;
  let kafka: LocalKafka;
  let arena: Arena<KafkaEventBus>;
  let arenas = 0;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'countersign-kafka-'));
    kafka = await startLocalKafka({ dataDir: folder });
  }, 180_000);
  afterAll(async () => {
    await kafka?.stop();
    await rm(folder, { recursive: true, force: true });
  });
  beforeEach(async () => {
    // A request that is not answered in time fails; how long that takes is all these settings change.
    const settings = OUTAGE > 0 ? {} : { answerMs: 700 };
    arena = kafkaArena(await testDatabase(), { brokers: [kafka.brokers], topicPrefix: `outage${arenas++}`, settings });
    await createEffects(arena.ownerPool);
  });
  const ending: (() => Promise<void>)[] = [];
  afterEach(async () => {
    await arena.close();
    for (const end of ending.splice(0)) await end();
  });

  const handled = async (group: string) => (await effectsOf(arena.pool, group)).length;

  it('are killed and started again under load, loses, doubles and reorders nothing', async () => {
    const buses = [arena.openBus(), arena.openBus()];
    for (const [index, bus] of buses.entries()) await bus.subscribe(recording('killed', { member: `member ${index}` }));
    const producing = load(arena);
    for (let round = 0; round < 2; round++) {
      const before = await handled('killed');
      await until(
        () => handled('killed'),
        (count) => count > before + 100,
        60_000,
      );
      await kafka.kill();
      const appended = producing.total();
      await until(producing.total, (total) => total > appended + 100);
      expect(await handled('killed')).toBeLessThan(producing.total());
      await kafka.start();
    }
    await producing.stop();
    const { position } = await arena.store.head();
    expect(await buses[0]?.caughtUp('killed', position, 'all', 120_000)).toBe(true);
    const effects = await effectsOf(arena.pool, 'killed');
    expectOnceInOrder(effects, producing.counts);
    expect(new Set(effects.map(({ member }) => member)).size).toBe(2);
  }, 240_000);

  it(
    'do not answer for longer than the client tries, lets appends go on, tells how far behind it is, and catches up in order',
    async () => {
      const { logger, times } = listening();
      // Metrics only: what is held is measured below.
      const telemetry = await collectTelemetry({ OTEL_TRACES_SAMPLER: 'always_off' });
      ending.push(() => telemetry.end());
      const measured = (metric: string) => telemetry.receiver.points.findLast((point) => point.metric === metric)?.value;
      const bus = arena.openBus({ logger });
      await bus.subscribe(recording('unreachable'));
      const producing = load(arena);
      await until(
        () => handled('unreachable'),
        (count) => count > 50,
        60_000,
      );
      kafka.signal('SIGSTOP');
      try {
        // Each of these is the end of all the client's own tries, and the beginning of the next.
        const lost = () => Math.min(times('events cannot be received from Kafka'), times('events cannot be published to Kafka'));
        const stopped = performance.now();
        const longEnough = () => (OUTAGE > 0 ? performance.now() - stopped >= OUTAGE * 1_000 : lost() >= 3);
        await until(longEnough, Boolean, 120_000 + OUTAGE * 1_000);
        expect(bus.health()).toEqual({ ok: false, detail: expect.stringMatching(/^Nothing was heard from Kafka for \d+ s\.$/) });
        const held = heldMegabytes();
        const large = { text: 'y'.repeat(1_000_000) };
        for (let i = 0; i < 36; i++) {
          const stream = newId('rev');
          await append(arena.store, stream, ['review.requested'], large);
          producing.counts.set(stream, 1);
        }
        // Buffers are given back some time after their collection; what is really held stays.
        await until(
          () => heldMegabytes() - held,
          (megabytes) => megabytes < 16,
        );
        const { groups, relay } = await bus.snapshot();
        expect(groups).toEqual([expect.objectContaining({ group: 'unreachable', parked: 0 })]);
        expect(groups[0]?.events).toBeGreaterThan(100);
        expect(groups[0]?.ageMs).toBeGreaterThan(1_000);
        expect(relay?.behind).toBeGreaterThan(100);
        await until(
          () => measured('countersign.relay.behind') ?? 0,
          (behind) => behind >= (relay?.behind ?? 0),
        );
        expect(measured('countersign.relay.position')).toBe(relay?.position);
      } finally {
        kafka.signal('SIGCONT');
      }
      await producing.stop();
      const { position } = await arena.store.head();
      expect(await bus.caughtUp('unreachable', position, 'all', 120_000)).toBe(true);
      expectOnceInOrder(await effectsOf(arena.pool, 'unreachable'), producing.counts);
      await until(
        () => bus.health(),
        ({ ok }) => ok,
      );
      await until(
        () => bus.snapshot(),
        ({ groups, relay }) => relay?.running === true && relay.behind === 0 && groups[0]?.events === 0,
      );
      await until(
        () => [measured('countersign.relay.behind'), measured('countersign.relay.position')],
        ([behind, at]) => behind === 0 && at === position,
      );
    },
    LIMIT_MS,
  );

  it('are not there yet, starts without them, and begins when they come', async () => {
    await kafka.kill();
    const { logger, times } = listening();
    const bus = arena.openBus({ logger });
    await bus.subscribe(recording('early'));
    expect(bus.health()).toEqual({ ok: false, detail: 'Kafka cannot be reached.' });
    const stream = newId('rev');
    const last = await append(arena.store, stream, ['review.requested', 'review.noted']);
    await until(
      () => times('events are neither published nor received'),
      (count) => count >= 2,
      60_000,
    );
    expect(await effectsOf(arena.pool, 'early')).toEqual([]);
    await kafka.start();
    expect(await bus.caughtUp('early', last, 'all', 60_000)).toBe(true);
    expectOnceInOrder(await effectsOf(arena.pool, 'early'), new Map([[stream, 2]]));
    expect(await bus.lag('early')).toMatchObject({ events: 0 });
  }, 240_000);
});
