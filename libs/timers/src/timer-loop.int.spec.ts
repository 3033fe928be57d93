/** What is due fires: never early, and once (timer-loop.ts T1–T3). */
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Station, until } from './timer-loop.fixture.js';

// Whoever waits gives up when nothing changes any more, not when the machine is slow.
jest.setTimeout(600_000);

let station: Station;
beforeEach(async () => {
  station = await Station.start();
});
afterEach(() => station.close());

describe('TimerLoop', () => {
  it('T1 fires when the database clock gets there, never before, and the append takes the row away', async () => {
    station.loop();
    const stream = await station.schedule(3_570);
    const soon = await station.schedule(3_500);
    await station.pass();
    await station.db.advanceClock(3_510);
    await until(station.fired, (all) => all.some((one) => one.stream === soon));
    await station.pass();
    expect(await station.types(stream)).toEqual(['review.requested']);
    await station.db.advanceClock(90);
    await until(
      () => station.types(stream),
      (seen) => seen.length === 2,
    );
    expect(await station.types(stream)).toEqual(['review.requested', 'review.expired']);
    await until(station.rows, (count) => count === 0);
    expect((await station.fired()).filter((one) => one.early)).toEqual([]);
  });

  it('T2 fires each timer once with four loops in three processes', async () => {
    await station.startProcess(10_000);
    await station.startProcess(10_000);
    station.loop();
    const streams: string[] = [];
    for (let wave = 0; wave < 4; wave++) {
      streams.push(...(await Promise.all(Array.from({ length: 100 }, (_, i) => station.schedule(60 + i / 50)))));
      await station.db.advanceClock(61);
    }
    await station.db.advanceClock(60);
    await until(station.rows, (count) => count === 0);
    const all = await station.fired();
    expect(all.map((one) => one.stream).sort()).toEqual([...streams].sort());
    expect(all.filter((one) => one.early)).toEqual([]);
    expect(new Set(all.map((one) => one.process)).size).toBeGreaterThan(2);
    for (const stream of streams.slice(0, 20)) expect(await station.types(stream)).toEqual(['review.requested', 'review.expired']);
  });

  it('T2 a table that was rebuilt is worked as the old one was, whatever claims and parkings it held', async () => {
    const due = await station.schedule(0);
    const later = await station.schedule(3_600);
    await station.db.ownerPool.query(`
      update event_store.timers set claimed_until = clock_timestamp() + interval '1 hour', attempts = 5, parked_at = now(), parked_reason = 'old';
      create temp table kept as select stream, category, kind, project, due_at, generation from event_store.timers;
      truncate event_store.timers;
      insert into event_store.timers (stream, category, kind, project, due_at, generation) select * from kept`);
    station.loop();
    await until(
      () => station.types(due),
      (seen) => seen.length === 2,
    );
    await station.pass();
    expect(await station.types(later)).toEqual(['review.requested']);
    await station.db.advanceClock(3_600);
    await until(
      () => station.types(later),
      (seen) => seen.length === 2,
    );
    await until(station.rows, (count) => count === 0);
    expect((await station.fired()).filter((one) => one.kind === 'timeout').map((one) => one.stream)).toEqual([due, later]);
  });

  it('T3 a row scheduled anew while it fires is another timer; one that is not wanted goes; one that is too early stays', async () => {
    const seen: string[] = [];
    const again = await station.schedule(0, 'again');
    await station.schedule(0, 'gone');
    const early = await station.schedule(0, 'early');
    station.loop({
      // The claim on the old row must not outlive it.
      leaseMs: 3_600_000,
      async onDue(timer) {
        seen.push(`${timer.kind} ${timer.dueAt}`);
        if (timer.kind === 'again') {
          await station.schedule(3_600, 'again', timer.stream);
          return 'fired';
        }
        if (timer.kind === 'early') return seen.filter((one) => one.startsWith('early')).length < 3 ? 'not_due' : 'gone';
        return 'gone';
      },
    });
    await until(station.rows, (count) => count === 1);
    expect(seen.map((one) => one.split(' ')[0]).sort()).toEqual(['again', 'early', 'early', 'early', 'gone']);
    expect(await station.types(early)).toEqual(['review.requested']);
    await station.db.advanceClock(3_601);
    await until(
      async () => seen,
      (all) => all.filter((one) => one.startsWith('again')).length === 2,
    );
    expect(new Set(seen.filter((one) => one.startsWith('again'))).size).toBe(2);
    expect(await station.types(again)).toHaveLength(3);
  });

  it('a timer that its cause cancelled does not fire', async () => {
    station.loop();
    const stream = await station.schedule(60);
    await station.store.append({
      streams: [{ stream, project: station.project, expectedVersion: 1, events: [{ type: 'review.decided', body: {} }] }],
      meta: {},
      cancel: [{ stream, kind: 'timeout' }],
    });
    await station.db.advanceClock(120);
    await station.pass();
    expect((await station.fired()).map((one) => one.kind)).toEqual(['witness']);
  });

  it('works only the kinds and categories it is given', async () => {
    await station.schedule(0, 'reminder');
    station.loop({ kinds: ['timeout', 'witness'] });
    await station.schedule(0, 'timeout');
    await station.pass();
    await until(station.rows, (count) => count === 1);
    expect((await station.fired()).map((one) => one.kind).sort()).toEqual(['timeout', 'witness']);
  });

  it('fires ten thousand timers that are due at once, each once', async () => {
    const streams: string[] = [];
    for (let i = 0; i < 10; i++) streams.push(...(await Promise.all(Array.from({ length: 1_000 }, () => station.schedule(60)))));
    station.loop();
    station.loop();
    await station.db.advanceClock(61);
    await until(station.rows, (count) => count === 0);
    const all = await station.fired();
    expect(all).toHaveLength(10_000);
    expect(new Set(all.map((one) => one.stream))).toEqual(new Set(streams));
  });
});
