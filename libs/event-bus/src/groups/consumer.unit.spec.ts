/** Turns a real database takes only now and then, over the model of it. */
import { setImmediate } from 'node:timers/promises';
import { Retryable } from '@countersign/database';
import { MemoryPool, type Reach, RowLocks } from '@countersign/database/model';
import { newId } from '@countersign/event-store';
import { bucketOf, MemoryEventStore, MemoryLog } from '@countersign/event-store/model';
import { createLogger } from '@countersign/telemetry';
import { until } from '@countersign/testing';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { Feed } from '../feed/feed.js';
import { BusModel, busStatements } from '../model/model.js';
import type { Subscription } from '../port.js';
import { Consumer } from './consumer.js';
import { Leases } from './leases.js';

const logger = createLogger({ service: 'test', level: 'silent' });
const HOUR_MS = 3_600_000;
const OTHER = 'ffffffff-ffff-4fff-bfff-ffffffffffff';
let consumer: Consumer;
let leases: Leases;
afterEach(async () => {
  await consumer.close(1_000);
  await leases.close();
});

/** One process with one group, all of whose buckets stand at the beginning. */
function stage(reach: Reach = async (_, work) => work()) {
  const log = new MemoryLog({ categories: { review: 'rev' }, now: () => Date.now() });
  const bus = new BusModel({ wallClock: () => Date.now(), notify: () => {} });
  const effects: number[] = [];
  const effect = {
    begins: 'effects',
    run([positions]: [number[]], write: (change: () => void) => void) {
      write(() => void effects.push(...positions));
      return 0;
    },
  };
  const { pool } = new MemoryPool({ statements: [...busStatements(bus, log), effect], locks: new RowLocks(), reach });
  bus.groups.set('group', { categories: ['review'], paused: false });
  const cursors = Array.from({ length: 12 }, (_, bucket) => ({ bucket, position: 0, replayUntil: 0, owner: null, epoch: 0 }));
  bus.cursors.set('group', cursors);
  let notify = () => {};
  const feed = {
    get position() {
      return log.events.length;
    },
    follow: (reader) => {
      notify = () => reader.advanced();
      return () => {};
    },
    after: () => null,
  } as Partial<Feed> as Feed;
  leases = new Leases({ pool, session: () => null, logger });
  const consume = async (onBatch: Subscription['onBatch']) => {
    const subscription = { group: 'group', categories: ['review'], handles: ['happened'], leaves: [], onBatch };
    consumer = new Consumer({ subscription, pool, store: new MemoryEventStore(log, reach), feed, leases, logger });
    await consumer.start();
  };
  /** An event in one of the first six buckets, or of the last six. */
  const append = (half: 'first' | 'last'): number => {
    let stream = newId('rev');
    while (bucketOf(stream) < 6 !== (half === 'first')) stream = newId('rev');
    const events = [{ type: 'happened', body: {} }];
    const result = log.append({ streams: [{ stream, project: newId('prj'), expectedVersion: 0, events }], meta: {} });
    notify();
    return result.status === 'appended' ? result.position : 0;
  };
  return { bus, cursors, effects, consume, append };
}

describe('a consumer', () => {
  it('does not apply a batch twice whose commit went through without an answer', async () => {
    let lost = 0;
    const { effects, consume, append, cursors } = stage(async (what, work) => {
      const answer = work();
      if (what === 'commit' && lost++ === 0) throw new Error('Connection terminated unexpectedly');
      return answer;
    });
    append('first');
    await consume(async (events, { tx }) => void (await tx.query('effects', [events.map((event) => event.position)])));
    await until(
      () => [lost, ...cursors.map((one) => one.position)],
      (seen) => seen.every((one) => one >= 1),
    );
    append('last');
    await until(
      () => [...effects],
      (seen) => seen.includes(2),
    );
    expect(effects).toEqual([1, 2]);
  });

  it('goes on when the buckets of a batch in doubt went to another process, and the others have nothing up to where it went', async () => {
    let lost = 0;
    const { cursors, effects, consume, append } = stage(async (what, work) => {
      await setImmediate();
      if (what !== 'commit' || lost++ > 0) return work();
      for (const one of cursors) if (one.bucket < 6) Object.assign(one, { owner: OTHER, epoch: one.epoch + 1 });
      throw new Error('Connection terminated unexpectedly');
    });
    append('first');
    await consume(async (events, { tx }) => void (await tx.query('effects', [events.map((event) => event.position)])));
    await until(
      () => lost,
      (seen) => seen === 1,
    );
    append('last');
    await until(
      () => [...effects],
      (seen) => seen.includes(2),
    );
    expect(effects).toEqual([2]);
  });

  it('goes on when the buckets whose batch failed were given back', async () => {
    const { bus, cursors, effects, consume, append } = stage();
    append('last');
    append('first');
    // As after another process died: the last six are behind.
    for (const one of cursors) if (one.bucket < 6) one.position = 2;
    let failing = true;
    let tries = 0;
    await consume(async (events, { tx }) => {
      tries++;
      if (failing) throw new Retryable('not now');
      await tx.query('effects', [events.map((event) => event.position)]);
    });
    await until(
      () => tries,
      (seen) => seen > 0,
    );
    bus.members.set(OTHER, { leaseUntil: Date.now() + HOUR_MS, session: null });
    bus.subscriptions.add({ group: 'group', member: OTHER });
    await leases.beat();
    await until(
      () => cursors.filter((one) => one.owner === null).length,
      (seen) => seen === 6,
    );
    failing = false;
    append('first');
    await until(
      () => [...effects],
      (seen) => seen.includes(3),
    );
    expect(effects).toEqual([3]);
  });

  it('does not take for a replay what had waited behind a parked key, where the key is let go before the replay gets there', async () => {
    const { bus, cursors, consume, append } = stage();
    append('first');
    append('last');
    let poison = true;
    const seen: [number, boolean][] = [];
    await consume(async (events, { replay }) => {
      if (poison && events.some((event) => event.position === 1)) throw new Error('Nobody expected this.');
      seen.push(...events.map((event): [number, boolean] => [event.position, replay]));
    });
    await until(
      () => cursors.map((one) => one.position),
      (positions) => positions.every((one) => one === 2),
    );
    poison = false;
    for (const one of cursors) Object.assign(one, { position: 0, replayUntil: 2, epoch: one.epoch + 1 });
    for (const row of bus.parkedOf('group')) row.releaseRequested = true;
    await leases.beat();
    await until(
      () => bus.parkedOf('group').length + cursors.filter((one) => one.position < 2).length,
      (left) => left === 0,
    );
    expect(seen).toEqual([
      [2, false],
      [2, true],
      [1, false],
    ]);
  });
});
