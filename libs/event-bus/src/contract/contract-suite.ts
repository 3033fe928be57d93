/**
 * What every adapter of the event bus must do, told as scenarios against a real store. An adapter's int spec calls `eventBusContract`.
 *
 * The suite never sleeps to let something happen: it waits for what must come. Where something must not come, it waits for a later event
 * to pass, at another group or another stream.
 */
import { newId, type StoredEvent } from '@countersign/event-store';
import { Retryable } from '../port.js';
import { append, type BusArena, createEffects, effectsOf, expectOnceInOrder, recording, until } from './contract-arena.js';
import { controlContract } from './contract-control.js';
import { parkingContract } from './contract-parking.js';

export function eventBusContract(adapter: string, open: () => Promise<BusArena>): void {
  describe(`${adapter} keeps the contract of the event bus`, () => {
    let arena: BusArena;
    beforeEach(async () => {
      arena = await open();
      await createEffects(arena.ownerPool);
    }, 60_000);
    afterEach(() => arena.close(), 60_000);

    describe('order and once', () => {
      it('B2 keeps the order of each key under eight producers', async () => {
        const bus = arena.openBus();
        await bus.subscribe(recording('order', { batchSize: 50 }));
        const streams = Array.from({ length: 20 }, () => newId('rev'));
        const counts = new Map(streams.map((stream) => [stream, 0]));
        let last = 0;
        await Promise.all(
          Array.from({ length: 8 }, async (_, producer) => {
            for (let i = 0; i < 60; i++) {
              const stream = streams[(producer * 7 + i) % streams.length] as string;
              last = Math.max(last, await append(arena.store, stream, ['review.noted']));
              counts.set(stream, (counts.get(stream) ?? 0) + 1);
            }
          }),
        );
        expect(await bus.caughtUp('order', last, 'all', 60_000)).toBe(true);
        expectOnceInOrder(await effectsOf(arena.pool, 'order'), counts);
      });

      it('B1 delivers again after a crash before the cursor moved, and the effect is there once', async () => {
        const member = await arena.spawnMember('crash');
        const stream = newId('rev');
        await append(arena.store, stream, ['review.requested'], { crash: true });
        await member.ended;
        expect(await effectsOf(arena.pool, 'crash')).toEqual([]);
        const bus = arena.openBus();
        await bus.subscribe(recording('crash'));
        await until(
          () => effectsOf(arena.pool, 'crash'),
          (effects) => effects.length > 0,
        );
        const last = await append(arena.store, stream, ['review.decided']);
        await bus.caughtUp('crash', last, 'all', 60_000);
        expectOnceInOrder(await effectsOf(arena.pool, 'crash'), new Map([[stream, 2]]));
      }, 60_000);

      it('B1 hands the same batch to the handler again after a Retryable, and nothing newer with it', async () => {
        const bus = arena.openBus();
        const batches: number[][] = [];
        const stream = newId('rev');
        await append(arena.store, stream, ['review.requested', 'review.noted']);
        await bus.subscribe(
          recording('retry', {
            async before(events) {
              batches.push(events.map((event) => event.version));
              if (batches.length > 2) return;
              await append(arena.store, stream, ['review.noted']);
              throw new Retryable('not yet');
            },
          }),
        );
        await until(
          () => effectsOf(arena.pool, 'retry'),
          (effects) => effects.length >= 4,
        );
        expect(batches.slice(0, 3)).toEqual([
          [1, 2],
          [1, 2],
          [1, 2],
        ]);
        expectOnceInOrder(await effectsOf(arena.pool, 'retry'), new Map([[stream, 4]]));
        expect(await bus.parked('retry')).toEqual([]);
      });

      it('skips no event when a slow transaction commits late', async () => {
        const bus = arena.openBus();
        await bus.subscribe(recording('late'));
        const slow = newId('rev');
        const quick = Array.from({ length: 5 }, () => newId('rev'));
        const late = await arena.appendLate(slow, ['review.requested', 'review.noted']);
        const others = quick.map((stream) => append(arena.store, stream, ['review.requested']));
        await late.commit();
        const last = Math.max(...(await Promise.all(others)));
        expect(await bus.caughtUp('late', last, 'all', 60_000)).toBe(true);
        expectOnceInOrder(await effectsOf(arena.pool, 'late'), new Map([[slow, 2], ...quick.map((stream) => [stream, 1] as const)]));
      });

      it('delivers an event of 1 MB as it was appended', async () => {
        const bus = arena.openBus();
        const seen: StoredEvent[] = [];
        await bus.subscribe(recording('large', { before: (events) => void seen.push(...events) }));
        const body = { text: 'ü'.repeat(500_000) };
        const last = await append(arena.store, newId('rev'), ['review.requested'], body);
        expect(await bus.caughtUp('large', last, 'all', 60_000)).toBe(true);
        expect(seen.map((event) => (event.body as typeof body).text === body.text)).toEqual([true]);
      });
    });

    describe('members', () => {
      it('two members split the work, and when one is killed the other takes over', async () => {
        const bus = arena.openBus();
        await bus.subscribe(recording('split', { member: 'survivor' }));
        const member = await arena.spawnMember('split');
        const counts = new Map<string, number>();
        const produce = async () => {
          const stream = newId('rev');
          await append(arena.store, stream, ['review.requested', 'review.noted']);
          counts.set(stream, 2);
          return effectsOf(arena.pool, 'split');
        };
        await until(produce, (effects) => new Set(effects.map((effect) => effect.member)).size === 2);
        member.signal('SIGKILL');
        await member.ended;
        for (const stream of [...counts.keys()]) {
          await append(arena.store, stream, ['review.decided']);
          counts.set(stream, 3);
        }
        const { position } = await arena.store.head();
        expect(await bus.caughtUp('split', position, 'all', 60_000)).toBe(true);
        expectOnceInOrder(await effectsOf(arena.pool, 'split'), counts);
      }, 60_000);

      it('a member that was stopped past its lease cannot commit what another has done meanwhile', async () => {
        const member = await arena.spawnMember('stopped');
        const stream = newId('rev');
        await append(arena.store, stream, ['review.requested'], { gate: 'go' });
        await until(
          () => arena.pool.query(`select from gates where name = 'go reached'`),
          ({ rowCount }) => rowCount === 1,
        );
        member.signal('SIGSTOP');
        const bus = arena.openBus();
        await bus.subscribe(recording('stopped', { member: 'other' }));
        await until(
          () => effectsOf(arena.pool, 'stopped'),
          (effects) => effects.length > 0,
        );
        await arena.pool.query(`insert into gates values ('go')`);
        member.signal('SIGCONT');
        // The stopped member is back at work when it handles something again.
        const counts = new Map([[stream, 1]]);
        await until(
          async () => {
            const next = newId('rev');
            await append(arena.store, next, ['review.requested']);
            counts.set(next, 1);
            return effectsOf(arena.pool, 'stopped');
          },
          (effects) => effects.some((effect) => effect.member === 'process'),
        );
        const { position } = await arena.store.head();
        expect(await bus.caughtUp('stopped', position, 'all', 60_000)).toBe(true);
        expectOnceInOrder(await effectsOf(arena.pool, 'stopped'), counts);
        expect((await effectsOf(arena.pool, 'stopped'))[0]?.member).toBe('other');
        member.signal('SIGKILL');
        await member.ended;
      }, 60_000);

      it('a storm of members that come, work and go or are killed, under load, loses, doubles and reorders nothing', async () => {
        const stays = arena.openBus();
        await stays.subscribe(recording('storm', { member: 'stays', batchSize: 10 }));
        const streams = Array.from({ length: 24 }, () => newId('rev'));
        const counts = new Map<string, number>();
        let appended = 0;
        const produce = async () => {
          const some = Array.from({ length: 6 }, () => streams[appended++ % streams.length] as string);
          await Promise.all(some.map((stream) => append(arena.store, stream, ['review.noted'])));
          for (const stream of some) counts.set(stream, (counts.get(stream) ?? 0) + 1);
        };
        const handledBy = (member: string, before = 0) =>
          until(
            async () => {
              await produce();
              const { rows } = await arena.pool.query<{ n: number }>('select count(*)::int as n from effects where member = $1', [member]);
              return rows[0]?.n ?? 0;
            },
            (n) => n > before,
          );
        let ofProcesses = 0;
        for (let round = 0; round < 9; round++) {
          if (round % 3 === 2) {
            const member = await arena.spawnMember('storm');
            ofProcesses = await handledBy('process', ofProcesses);
            member.signal('SIGKILL');
            await member.ended;
          } else {
            const comer = arena.openBus();
            await comer.subscribe(recording('storm', { member: `comer ${round}`, batchSize: 10 }));
            await handledBy(`comer ${round}`);
            await comer.close();
          }
        }
        const { position } = await arena.store.head();
        expect(await stays.caughtUp('storm', position, 'all', 60_000)).toBe(true);
        expectOnceInOrder(await effectsOf(arena.pool, 'storm'), counts);
      }, 120_000);

      it('B5 delivers nothing after close() has resolved', async () => {
        const bus = arena.openBus();
        let closed = false;
        let running = 0;
        const afterClose: number[] = [];
        const inner = recording('closing', { batchSize: 3 });
        await bus.subscribe({
          ...inner,
          async onBatch(events, context) {
            running++;
            if (closed) afterClose.push(...events.map((event) => event.position));
            // Long enough that a close which does not wait is over before.
            await context.tx.query('select pg_sleep(0.1)');
            await inner.onBatch(events, context);
            running--;
          },
        });
        const stream = newId('rev');
        let appending = true;
        let count = 0;
        const producer = (async () => {
          for (; appending; count++) await append(arena.store, stream, ['review.noted']);
        })();
        await until(
          async () => [running, (await effectsOf(arena.pool, 'closing')).length],
          ([now, done]) => now === 1 && (done ?? 0) > 0,
        );
        await bus.close();
        expect(running).toBe(0);
        closed = true;
        const before = (await effectsOf(arena.pool, 'closing')).length;
        const other = arena.openBus();
        await other.subscribe(recording('witness'));
        await until(
          () => effectsOf(arena.pool, 'witness'),
          (effects) => effects.length > before + 50,
        );
        appending = false;
        await producer;
        expect(await effectsOf(arena.pool, 'closing')).toHaveLength(before);
        expect(afterClose).toEqual([]);

        // Another member begins where the closed one stopped.
        await other.subscribe(recording('closing'));
        await other.caughtUp('closing', (await arena.store.head()).position, 'all', 60_000);
        expectOnceInOrder(await effectsOf(arena.pool, 'closing'), new Map([[stream, count]]));
      });
    });

    controlContract(() => arena);
    parkingContract(() => arena);
  });
}
