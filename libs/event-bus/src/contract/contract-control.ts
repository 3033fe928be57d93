/** The part of the contract that speaks of pausing, seeking, waiting, tailing and holding little. */
import { newId, type StoredEvent } from '@countersign/event-store';
import { append, type BusArena, effectsOf, expectOnceInOrder, HANDLED, heldMegabytes, recording, until } from './contract-arena.js';

export function controlContract(current: () => BusArena): void {
  describe('control', () => {
    let arena: BusArena;
    beforeEach(() => {
      arena = current();
    });

    it('a paused group gets nothing until it is resumed', async () => {
      const bus = arena.openBus();
      const other = arena.openBus();
      await bus.subscribe(recording('paused'));
      await bus.subscribe(recording('running'));
      await other.pause('paused');
      const last = await append(arena.store, newId('rev'), ['review.requested']);
      expect(await bus.caughtUp('running', last, 'all', 60_000)).toBe(true);
      expect(await bus.caughtUp('paused', last, 'all', 100)).toBe(false);
      expect(await effectsOf(arena.pool, 'paused')).toEqual([]);
      expect(await bus.lag('paused')).toMatchObject({ group: 'paused', events: 1, parked: 0 });
      await other.resume('paused');
      expect(await bus.caughtUp('paused', last, 'all', 60_000)).toBe(true);
      expect(await effectsOf(arena.pool, 'paused')).toHaveLength(1);
      expect(await bus.lag('paused')).toEqual({ group: 'paused', events: 0, ageMs: 0, parked: 0 });
    });

    it('a replay equals the first run, and says that it is one', async () => {
      const bus = arena.openBus();
      const streams = Array.from({ length: 6 }, () => newId('rev'));
      for (let i = 0; i < 40; i++) await append(arena.store, streams[(i * 5) % 6] as string, [HANDLED[i % 3] as string, 'review.viewed']);
      await bus.subscribe(recording('replay', { batchSize: 7 }));
      const { position } = await arena.store.head();
      await bus.caughtUp('replay', position, 'all', 60_000);
      const first = await effectsOf(arena.pool, 'replay');
      expect(first.map((effect) => effect.replay)).toEqual(first.map(() => false));

      await bus.seek('replay', 0);
      expect(await bus.caughtUp('replay', position, 'all', 60_000)).toBe(true);
      expect(await effectsOf(arena.pool, 'replay')).toHaveLength(2 * first.length);
      const fresh = await append(arena.store, streams[0] as string, ['review.decided']);
      expect(await bus.caughtUp('replay', fresh, 'all', 60_000)).toBe(true);
      const both = await effectsOf(arena.pool, 'replay');
      const again = both.slice(first.length);
      expect(again.slice(0, -1)).toEqual(first.map((effect) => ({ ...effect, replay: true })));
      expect(again.at(-1)).toMatchObject({ position: fresh, replay: false });
    });

    it('a seek while a batch is in flight undoes that batch', async () => {
      const bus = arena.openBus();
      const other = arena.openBus();
      let inHandler = () => {};
      const reached = new Promise<void>((resolve) => {
        inHandler = resolve;
      });
      let go = () => {};
      const gate = new Promise<void>((resolve) => {
        go = resolve;
      });
      const stream = newId('rev');
      await append(arena.store, stream, ['review.requested']);
      await bus.subscribe(
        recording('fenced', {
          async before() {
            inHandler();
            await gate;
          },
        }),
      );
      await reached;
      await other.seek('fenced', 0);
      go();
      const last = await append(arena.store, stream, ['review.decided']);
      expect(await bus.caughtUp('fenced', last, 'all', 60_000)).toBe(true);
      expectOnceInOrder(await effectsOf(arena.pool, 'fenced'), new Map([[stream, 2]]));
    });

    it('caughtUp tells when one bucket has been handled, in any process', async () => {
      const bus = arena.openBus();
      const other = arena.openBus();
      await bus.subscribe(recording('caught'));
      const stream = newId('rev');
      await append(arena.store, stream, ['review.requested']);
      const event = (await arena.store.readStream(stream)).events[0] as StoredEvent;
      expect(await other.caughtUp('caught', event.position, event.bucket, 60_000)).toBe(true);
      expect(await effectsOf(arena.pool, 'caught')).toHaveLength(1);
      // Nothing of interest to the group: handled as soon as it is there.
      const foreign = await append(arena.store, newId('tpl'), ['template.published']);
      expect(await other.caughtUp('caught', foreign, 'all', 60_000)).toBe(true);
      expect(await bus.caughtUp('caught', foreign, 'all', 60_000)).toBe(true);
      expect(await bus.caughtUp('caught', foreign + 1, 'all', 50)).toBe(false);
    });

    it('holds a bounded part of the events while a consumer is stalled', async () => {
      const bus = arena.openBus();
      let go = () => {};
      const gate = new Promise<void>((resolve) => {
        go = resolve;
      });
      await bus.subscribe(recording('stalled', { before: () => gate }));
      await bus.subscribe(recording('lively'));
      const before = heldMegabytes();
      const counts = new Map<string, number>();
      for (let i = 0; i < 64; i++) {
        const stream = newId('rev');
        await append(arena.store, stream, ['review.requested'], { text: String.fromCharCode(97 + (i % 26)).repeat(1_000_000) });
        counts.set(stream, 1);
      }
      const { position } = await arena.store.head();
      expect(await bus.caughtUp('lively', position, 'all', 60_000)).toBe(true);
      // Buffers are given back some time after their collection; what is really held stays.
      const more = await until(
        () => heldMegabytes() - before,
        (megabytes) => megabytes < 32,
      ).finally(go);
      expect(more).toBeLessThan(32);
      expect(await bus.caughtUp('stalled', position, 'all', 60_000)).toBe(true);
      expectOnceInOrder(await effectsOf(arena.pool, 'stalled'), counts);
    }, 60_000);

    it('a tail sees everything once and in order, from a position or from now', async () => {
      const bus = arena.openBus();
      const stream = newId('rev');
      for (let i = 0; i < 30; i++) await append(arena.store, stream, ['review.noted', 'review.viewed']);
      const all: number[] = [];
      const recent: number[] = [];
      const collectInto = (list: number[]) => (events: StoredEvent[]) => void list.push(...events.map((event) => event.position));
      await bus.tail({ from: 0, categories: ['review'], onEvents: collectInto(all) });
      const now = await bus.tail({ from: 'now', categories: ['review'], onEvents: collectInto(recent) });
      const template = await append(arena.store, newId('tpl'), ['template.published']);
      await Promise.all(Array.from({ length: 20 }, () => append(arena.store, newId('rev'), ['review.requested'])));
      const { position } = await arena.store.head();
      const expected = Array.from({ length: position }, (_, index) => index + 1).filter((one) => one !== template);
      await until(
        () => [all.length, recent.length],
        ([first, second]) => (first ?? 0) >= expected.length && (second ?? 0) >= 20,
      );
      expect(all).toEqual(expected);
      expect(recent).toEqual(expected.filter((one) => one > 60));
      await now.close();
      await append(arena.store, stream, ['review.noted']);
      await until(
        () => all.length,
        (length) => length === expected.length + 1,
      );
      expect(recent).toHaveLength(20);
    });
  });
}
