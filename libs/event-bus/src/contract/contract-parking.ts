/** The part of the contract that speaks of poison and of unknown types (B3, B4). */
import { newId, type StoredEvent } from '@countersign/event-store';
import { append, type BusArena, effectsOf, expectOnceInOrder, HANDLED, recording, until } from './contract-arena.js';

/** Fails for events whose body says `{ "poison": true }`, as long as `on`. */
function poison() {
  const state = {
    on: true,
    before(events: StoredEvent[]) {
      if (state.on && events.some((event) => (event.body as { poison?: boolean }).poison)) throw new TypeError('cannot read this body');
    },
  };
  return state;
}

export function parkingContract(current: () => BusArena): void {
  describe('parking', () => {
    it('B3 parks the key of a poison event while the others flow, and unpark replays it in order', async () => {
      const arena = current();
      const bus = arena.openBus();
      const sick = newId('rev');
      const healthy = Array.from({ length: 10 }, () => newId('rev'));
      const failing = poison();
      await append(arena.store, sick, ['review.requested']);
      for (const stream of healthy.slice(0, 5)) await append(arena.store, stream, ['review.requested', 'review.noted']);
      const poisoned = await append(arena.store, sick, ['review.noted'], { poison: true });
      for (const stream of healthy.slice(5)) await append(arena.store, stream, ['review.requested', 'review.noted']);
      await append(arena.store, sick, ['review.noted', 'review.viewed']);
      await bus.subscribe(recording('poison', { before: failing.before }));
      const last = await append(arena.store, sick, ['review.decided']);
      expect(await bus.caughtUp('poison', last, 'all', 60_000)).toBe(true);

      const counts = new Map<string, number>(healthy.map((stream) => [stream, 2]));
      expectOnceInOrder(await effectsOf(arena.pool, 'poison'), new Map([...counts, [sick, 1]]));
      expect(await bus.parked('poison')).toEqual([
        {
          group: 'poison',
          stream: sick,
          position: poisoned,
          waiting: 4,
          reason: 'TypeError: cannot read this body',
          parkedAt: expect.stringMatching(/^\d{4}-.*Z$/),
        },
      ]);
      expect(await bus.lag('poison')).toMatchObject({ events: 0, parked: 1 });

      // Still poison: nothing is lost, it waits again.
      expect(await bus.unpark('poison', sick)).toEqual({ replayed: 0, waiting: 4 });
      failing.on = false;
      // From a process that has no such subscription, as an operator's command would be.
      expect(await arena.openBus().unpark('poison', sick)).toEqual({ replayed: 3, waiting: 0 });
      expect(await bus.parked()).toEqual([]);
      const next = await append(arena.store, sick, ['review.noted']);
      await bus.caughtUp('poison', next, 'all', 60_000);
      const effects = await effectsOf(arena.pool, 'poison');
      expect(effects.filter((effect) => effect.stream === sick).map((effect) => effect.version)).toEqual([1, 2, 3, 5, 6]);
      expect(effects.every((effect) => !effect.replay)).toBe(true);
      await expect(bus.unpark('poison', sick)).rejects.toThrow(/not parked/);
    });

    it('no event overtakes those of its key while they are released', async () => {
      const arena = current();
      const bus = arena.openBus();
      const sick = newId('rev');
      const failing = poison();
      await bus.subscribe(recording('release', { batchSize: 4, before: failing.before }));
      let count = 40;
      let last = await append(arena.store, sick, ['review.requested'], { poison: true });
      for (let i = 1; i < count; i++) last = await append(arena.store, sick, ['review.noted']);
      await bus.caughtUp('release', last, 'all', 60_000);
      expect(await effectsOf(arena.pool, 'release')).toEqual([]);
      failing.on = false;
      let released = false;
      const release = bus.unpark('release', sick).finally(() => {
        released = true;
      });
      for (; !released; count++) last = await append(arena.store, sick, ['review.noted']);
      expect((await release).replayed).toBeGreaterThanOrEqual(40);
      await bus.caughtUp('release', last, 'all', 60_000);
      expectOnceInOrder(await effectsOf(arena.pool, 'release'), new Map([[sick, count]]));
    });

    it('a key stays parked when its bucket changes hands', async () => {
      const arena = current();
      const first = arena.openBus();
      const sick = newId('rev');
      const failing = poison();
      await first.subscribe(recording('moved', { before: failing.before }));
      let last = await append(arena.store, sick, ['review.requested'], { poison: true });
      await first.caughtUp('moved', last, 'all', 60_000);
      await first.close();
      const second = arena.openBus();
      await second.subscribe(recording('moved'));
      last = await append(arena.store, sick, ['review.decided']);
      const other = newId('rev');
      last = await append(arena.store, other, ['review.requested']);
      expect(await second.caughtUp('moved', last, 'all', 60_000)).toBe(true);
      expect((await effectsOf(arena.pool, 'moved')).map((effect) => effect.stream)).toEqual([other]);
      expect(await second.unpark('moved', sick)).toEqual({ replayed: 2, waiting: 0 });
    });

    it('a release that was asked for while no member is up is done by the first to come', async () => {
      const arena = current();
      const first = arena.openBus();
      const sick = newId('rev');
      const failing = poison();
      await first.subscribe(recording('later', { before: failing.before }));
      const last = await append(arena.store, sick, ['review.requested'], { poison: true });
      await first.caughtUp('later', last, 'all', 60_000);
      await first.close();
      const second = arena.openBus();
      expect(await second.unpark('later', sick)).toEqual({ replayed: 0, waiting: 1 });
      await second.subscribe(recording('later'));
      await until(
        () => second.parked('later'),
        (keys) => keys.length === 0,
      );
      expectOnceInOrder(await effectsOf(arena.pool, 'later'), new Map([[sick, 1]]));
    });

    it('a replay passes what had been handled before the parked event, and leaves the rest parked', async () => {
      const arena = current();
      const bus = arena.openBus();
      const sick = newId('rev');
      const failing = poison();
      await append(arena.store, sick, ['review.requested']);
      await append(arena.store, sick, ['review.noted'], { poison: true });
      await bus.subscribe(recording('replayed', { before: failing.before }));
      const last = await append(arena.store, sick, ['review.decided']);
      await bus.caughtUp('replayed', last, 'all', 60_000);
      await bus.seek('replayed', 0);
      await until(
        () => effectsOf(arena.pool, 'replayed'),
        (effects) => effects.length === 2,
      );
      await bus.caughtUp('replayed', last, 'all', 60_000);
      failing.on = false;
      expect(await bus.unpark('replayed', sick)).toEqual({ replayed: 2, waiting: 0 });
      expect((await effectsOf(arena.pool, 'replayed')).map(({ version, replay }) => [version, replay])).toEqual([
        [1, false],
        [1, true],
        // Never handled before, so a reactor must act on them although they lie before the mark of the seek.
        [2, false],
        [3, false],
      ]);
    });

    it('B4 parks the key of an unknown type, and a version that knows it lets it flow', async () => {
      const arena = current();
      const old = arena.openBus();
      const stream = newId('rev');
      const other = newId('rev');
      await old.subscribe(recording('upgrade'));
      await append(arena.store, stream, ['review.requested', 'review.praised', 'review.decided']);
      const last = await append(arena.store, other, ['review.requested', 'review.viewed']);
      expect(await old.caughtUp('upgrade', last, 'all', 60_000)).toBe(true);
      expect((await effectsOf(arena.pool, 'upgrade')).map(({ stream: of, version }) => [of, version])).toEqual([
        [stream, 1],
        [other, 1],
      ]);
      const [parked] = await old.parked('upgrade');
      expect(parked).toMatchObject({ stream, waiting: 2, reason: expect.stringContaining('review.praised') });
      // An old version that is told to release it finds the type as unknown as before.
      expect(await old.unpark('upgrade', stream)).toEqual({ replayed: 0, waiting: 2 });
      await old.close();

      const upgraded = arena.openBus();
      await upgraded.subscribe(recording('upgrade', { handles: [...HANDLED, 'review.praised'] }));
      await until(
        () => upgraded.parked('upgrade'),
        (keys) => keys.length === 0,
      );
      expectOnceInOrder(
        await effectsOf(arena.pool, 'upgrade'),
        new Map([
          [stream, 3],
          [other, 1],
        ]),
      );
    });
  });
}
