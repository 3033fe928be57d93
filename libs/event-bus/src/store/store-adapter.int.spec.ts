/** What is peculiar to the store adapter; what every adapter must do stands in the contract suite. */

import { newId } from '@countersign/event-store';
import { createLogger } from '@countersign/telemetry';
import { type TestDatabase, testDatabase } from '@countersign/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Arena, storeArena } from '../contract/arena.js';
import { append, createEffects, effectsOf, expectOnceInOrder, recording, until } from '../contract/contract-arena.js';
import type { StoreEventBus } from './store-event-bus.js';
import { StoreFeed } from './store-feed.js';

let db: TestDatabase;
let arena: Arena<StoreEventBus>;
beforeEach(async () => {
  db = await testDatabase();
  arena = storeArena(db);
  await createEffects(arena.ownerPool);
});
afterEach(() => arena.close());

const owners = async (group: string): Promise<number[]> => {
  const { rows } = await arena.pool.query<{ count: number }>(
    'select count(*) from event_bus.cursors where group_name = $1 and owner is not null group by owner order by 1',
    [group],
  );
  return rows.map((row) => row.count);
};
const epochs = async (group: string): Promise<number[]> => {
  const { rows } = await arena.pool.query<{ epoch: number }>('select epoch from event_bus.cursors where group_name = $1 order by bucket', [
    group,
  ]);
  return rows.map((row) => row.epoch);
};
const listeners = async (): Promise<number[]> => {
  const { rows } = await arena.ownerPool.query<{ pid: number }>(
    `select pid from pg_stat_activity where application_name = 'countersign listener' and datname = current_database()`,
  );
  return rows.map((row) => row.pid);
};
const same = (expected: number[]) => (seen: number[]) => JSON.stringify(seen) === JSON.stringify(expected);

describe('what is to blame for a batch that failed', () => {
  it('D2 a database that goes away in the middle of a batch parks nothing', async () => {
    const bus = arena.openBus();
    let cut = 0;
    const stream = newId('rev');
    const last = await append(arena.store, stream, ['review.requested', 'review.noted']);
    await bus.subscribe(
      recording('cut', {
        async before(_events, { tx }) {
          if (++cut > 2) return;
          const { rows } = await tx.query<{ pid: number }>('select pg_backend_pid() as pid');
          await arena.ownerPool.query('select pg_terminate_backend($1)', [rows[0]?.pid]);
        },
      }),
    );
    expect(await bus.caughtUp('cut', last, 'all', 60_000)).toBe(true);
    expect(cut).toBe(3);
    expect(await bus.parked()).toEqual([]);
    expectOnceInOrder(await effectsOf(arena.pool, 'cut'), new Map([[stream, 2]]));
  });

  it('D3 a constraint that speaks only at the commit parks the event that broke it, alone', async () => {
    await arena.ownerPool.query(`
      create table seats (number int, constraint one_each unique (number) deferrable initially deferred);
      grant insert on seats to countersign_app`);
    const bus = arena.openBus();
    const streams = Array.from({ length: 9 }, () => newId('rev'));
    let last = 0;
    for (const [index, stream] of streams.entries())
      last = await append(arena.store, stream, ['review.requested'], { seat: index === 6 ? 2 : index });
    await bus.subscribe(
      recording('seats', {
        async before(events, { tx }) {
          for (const { body } of events) await tx.query('insert into seats values ($1)', [(body as { seat: number }).seat]);
        },
      }),
    );
    expect(await bus.caughtUp('seats', last, 'all', 60_000)).toBe(true);
    expect((await bus.parked()).map((key) => key.stream)).toEqual([streams[6]]);
    expect((await effectsOf(arena.pool, 'seats')).map((effect) => effect.stream)).toEqual(streams.filter((_, index) => index !== 6));
  });

  it('D3 a handler that swallows an error of its transaction parks the event', async () => {
    const bus = arena.openBus();
    const sick = newId('rev');
    const healthy = newId('rev');
    await append(arena.store, sick, ['review.requested'], { sick: true });
    const last = await append(arena.store, healthy, ['review.requested']);
    await bus.subscribe({
      ...recording('swallowed'),
      async onBatch(events, context) {
        await recording('swallowed').onBatch(events, context);
        if (events.some((event) => (event.body as { sick?: boolean }).sick)) await context.tx.query('select 1 / 0').catch(() => {});
      },
    });
    expect(await bus.caughtUp('swallowed', last, 'all', 60_000)).toBe(true);
    expect((await bus.parked()).map((key) => key.stream)).toEqual([sick]);
    expect((await effectsOf(arena.pool, 'swallowed')).map((effect) => effect.stream)).toEqual([healthy]);
  });
});

describe('members', () => {
  it('share the buckets evenly as they come and go', async () => {
    const [first, second, third] = [arena.openBus(), arena.openBus(), arena.openBus()];
    await first.subscribe(recording('shared'));
    expect(await owners('shared')).toEqual([12]);
    await second.subscribe(recording('shared'));
    await until(() => owners('shared'), same([6, 6]));
    await third.subscribe(recording('shared'));
    await until(() => owners('shared'), same([4, 4, 4]));
    await second.close();
    await until(() => owners('shared'), same([6, 6]));
    const streams = Array.from({ length: 30 }, () => newId('rev'));
    let last = 0;
    for (const stream of streams) last = await append(arena.store, stream, ['review.requested']);
    expect(await first.caughtUp('shared', last, 'all', 60_000)).toBe(true);
    expectOnceInOrder(await effectsOf(arena.pool, 'shared'), new Map(streams.map((stream) => [stream, 1])));
  });

  it('L1 a day that passes on the database clock takes nobody for dead', async () => {
    const [first, second] = [arena.openBus(), arena.openBus()];
    await first.subscribe(recording('clock'));
    await second.subscribe(recording('clock'));
    await until(() => owners('clock'), same([6, 6]));
    const before = await epochs('clock');
    await db.advanceClock(86_400);
    const last = await append(arena.store, newId('rev'), ['review.requested']);
    expect(await first.caughtUp('clock', last, 'all', 60_000)).toBe(true);
    // Two heartbeats of each member, so that either could have taken over.
    for (let beats = 0; beats < 2; beats++) {
      const { rows } = await arena.pool.query<{ lease_until: Date }>('select max(lease_until) as lease_until from event_bus.members');
      await until(
        () => arena.pool.query('select from event_bus.members where lease_until > $1', [rows[0]?.lease_until]),
        ({ rowCount }) => rowCount === 2,
      );
    }
    expect(await epochs('clock')).toEqual(before);
  });

  it('L2 that were killed hand over at the next heartbeat of another, however long their lease is', async () => {
    const killed = await arena.spawnMember('killed');
    expect(await owners('killed')).toEqual([12]);
    await arena.ownerPool.query(`update event_bus.members set lease_until = 'infinity'`);
    killed.signal('SIGKILL');
    await killed.ended;
    await until(listeners, same([]));
    const last = await append(arena.store, newId('rev'), ['review.requested']);
    const next = arena.openBus();
    await next.subscribe(recording('killed', { member: 'next' }));
    expect(await owners('killed')).toEqual([12]);
    expect(await next.caughtUp('killed', last, 'all', 60_000)).toBe(true);
    expect((await effectsOf(arena.pool, 'killed')).map((effect) => effect.member)).toEqual(['next']);
  });

  it('B5 close() does not wait for a handler for ever, and what that handler did is undone', async () => {
    const bus = arena.openBus({ drainMs: 100 });
    let go = () => {};
    const gate = new Promise<void>((resolve) => {
      go = resolve;
    });
    let ended: Promise<void> | undefined;
    const last = await append(arena.store, newId('rev'), ['review.requested']);
    await bus.subscribe({
      ...recording('stuck'),
      onBatch(events, context) {
        ended = recording('stuck')
          .onBatch(events, context)
          .then(() => gate);
        return ended;
      },
    });
    await until(
      () => ended !== undefined,
      (begun) => begun,
    );
    await bus.close();
    go();
    await ended;
    const next = arena.openBus();
    await next.subscribe(recording('stuck', { member: 'next' }));
    expect(await next.caughtUp('stuck', last, 'all', 60_000)).toBe(true);
    expect((await effectsOf(arena.pool, 'stuck')).map((effect) => effect.member)).toEqual(['next']);
  });
});

describe('subscriptions', () => {
  it('a group that starts now does not see the past, and says how old what it has not handled is', async () => {
    const bus = arena.openBus();
    await append(arena.store, newId('rev'), ['review.requested']);
    await bus.subscribe(recording('fresh', { startAt: 'now' }));
    await bus.pause('fresh');
    const last = await append(arena.store, newId('rev'), ['review.requested']);
    await db.advanceClock(3_600);
    const lag = await bus.lag('fresh');
    expect(lag.events).toBe(1);
    expect(lag.ageMs).toBeGreaterThanOrEqual(3_600_000);
    await bus.resume('fresh');
    expect(await bus.caughtUp('fresh', last, 'all', 60_000)).toBe(true);
    expect((await effectsOf(arena.pool, 'fresh')).map((effect) => effect.position)).toEqual([last]);
  });

  it('says what is wrong with one', async () => {
    const bus = arena.openBus();
    await bus.subscribe(recording('once'));
    await expect(bus.subscribe(recording('once'))).rejects.toThrow(/subscribed in this process already/);
    await expect(bus.subscribe(recording('both', { leaves: ['review.noted'] }))).rejects.toThrow(/handles and leaves review.noted/);
    for (const call of [bus.pause('none'), bus.resume('none'), bus.seek('none', 0), bus.lag('none')]) {
      await expect(call).rejects.toThrow(/no group none/);
    }
    await bus.close();
    await expect(bus.subscribe(recording('late'))).rejects.toThrow(/closed/);
  });
});

describe('notifications', () => {
  it('F2 events flow and groups are controlled without any', async () => {
    const bus = arena.openBus({ connectionString: 'postgres://127.0.0.1:1/nothing-listens-here' });
    const other = arena.openBus({ connectionString: 'postgres://127.0.0.1:1/nothing-listens-here' });
    await bus.subscribe(recording('quiet'));
    const seen: number[] = [];
    await other.tail({ from: 0, categories: ['review'], onEvents: (events) => void seen.push(...events.map((event) => event.position)) });
    const first = await append(arena.store, newId('rev'), ['review.requested']);
    await until(
      () => effectsOf(arena.pool, 'quiet'),
      (effects) => effects.length === 1,
    );
    await other.seek('quiet', 0);
    await until(
      () => effectsOf(arena.pool, 'quiet'),
      (effects) => effects.length === 2,
    );
    await until(
      () => seen,
      (positions) => positions.length === 1,
    );
    expect(seen).toEqual([first]);
  });

  it('N2 a listening connection that is cut is replaced, and events flow meanwhile', async () => {
    const bus = arena.openBus();
    await bus.subscribe(recording('deaf'));
    const [before] = await listeners();
    await arena.ownerPool.query('select pg_terminate_backend($1)', [before]);
    const last = await append(arena.store, newId('rev'), ['review.requested']);
    expect(await bus.caughtUp('deaf', last, 'all', 60_000)).toBe(true);
    const [after] = await until(listeners, (pids) => pids.length === 1 && pids[0] !== before);
    expect(after).not.toBe(before);
    let told = 0;
    const stop = bus.onAppend(() => told++);
    await until(
      async () => {
        await append(arena.store, newId('rev'), ['review.requested']);
        return told;
      },
      (times) => times > 0,
    );
    stop();
  });

  it('F2 a connection that hears nothing any more is found out by the poll', async () => {
    let replaced = 0;
    const listener = { connected: true, reconnect: () => void replaced++ };
    const feed = new StoreFeed({ store: arena.store, listener, logger: createLogger({ service: 'feed', level: 'silent' }) });
    await feed.start();
    await until(
      async () => {
        const position = await append(arena.store, newId('rev'), ['review.requested']);
        await until(
          () => feed.position,
          (seen) => seen >= position,
        );
        return replaced;
      },
      (times) => times > 0,
    );
    await feed.close();
  });
});
