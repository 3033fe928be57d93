/** What is due fires: never early, and once (timer-loop.ts T1–T3). */
import { once } from 'node:events';
import { until } from '@countersign/testing';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Server } from './timer-loop.fixture.js';

// Whoever waits gives up when nothing changes any more, not when the machine is slow.
jest.setTimeout(600_000);

let server: Server;
beforeEach(async () => {
  server = await Server.start();
});
afterEach(() => server.close());

describe('TimerLoop', () => {
  it('T1 fires when the database clock gets there, never before, and the append takes the row away', async () => {
    server.loop();
    const stream = await server.schedule(3_570);
    const soon = await server.schedule(3_500);
    await server.pass();
    await server.db.advanceClock(3_510);
    await until(server.fired, (all) => all.some((one) => one.stream === soon));
    await server.pass();
    expect(await server.types(stream)).toEqual(['review.requested']);
    await server.db.advanceClock(90);
    await until(
      () => server.types(stream),
      (seen) => seen.length === 2,
    );
    expect(await server.types(stream)).toEqual(['review.requested', 'review.expired']);
    await until(server.rows, (count) => count === 0);
    expect((await server.fired()).filter((one) => one.early)).toEqual([]);
  });

  it('T2 fires each timer once with four loops in three processes', async () => {
    await server.startProcess(10_000);
    await server.startProcess(10_000);
    server.loop();
    const streams: string[] = [];
    for (let wave = 0; wave < 4; wave++) {
      streams.push(...(await Promise.all(Array.from({ length: 100 }, (_, i) => server.schedule(60 + i / 50)))));
      await server.db.advanceClock(61);
    }
    await server.db.advanceClock(60);
    await until(server.rows, (count) => count === 0);
    const all = await server.fired();
    expect(all.map((one) => one.stream).sort()).toEqual([...streams].sort());
    expect(all.filter((one) => one.early)).toEqual([]);
    expect(new Set(all.map((one) => one.process)).size).toBeGreaterThan(2);
    for (const stream of streams.slice(0, 20)) expect(await server.types(stream)).toEqual(['review.requested', 'review.expired']);
  });

  it('T2 a table that was rebuilt is worked as the old one was, whatever claims and parkings it held', async () => {
    const due = await server.schedule(0);
    const later = await server.schedule(3_600);
    await server.db.ownerPool.query(`
      update event_store.timers set claimed_until = clock_timestamp() + interval '1 hour', attempts = 5, parked_at = now(), parked_reason = 'old';
      create temp table kept as select stream, category, kind, project, due_at, generation from event_store.timers;
      truncate event_store.timers;
      insert into event_store.timers (stream, category, kind, project, due_at, generation) select * from kept`);
    server.loop();
    await until(
      () => server.types(due),
      (seen) => seen.length === 2,
    );
    await server.pass();
    expect(await server.types(later)).toEqual(['review.requested']);
    await server.db.advanceClock(3_600);
    await until(
      () => server.types(later),
      (seen) => seen.length === 2,
    );
    await until(server.rows, (count) => count === 0);
    expect((await server.fired()).filter((one) => one.kind === 'timeout').map((one) => one.stream)).toEqual([due, later]);
  });

  it('T3 a row scheduled anew while it fires is another timer; one that is not wanted goes; one that is too early stays', async () => {
    const seen: string[] = [];
    const again = await server.schedule(0, 'again');
    await server.schedule(0, 'gone');
    const early = await server.schedule(0, 'early');
    server.loop({
      // The claim on the old row must not outlive it.
      leaseMs: 3_600_000,
      async onDue(timer) {
        seen.push(`${timer.kind} ${timer.dueAt}`);
        if (timer.kind === 'again') {
          await server.schedule(3_600, 'again', timer.stream);
          return 'fired';
        }
        if (timer.kind === 'early') return seen.filter((one) => one.startsWith('early')).length < 3 ? 'not_due' : 'gone';
        return 'gone';
      },
    });
    await until(server.rows, (count) => count === 1);
    expect(seen.map((one) => one.split(' ')[0]).sort()).toEqual(['again', 'early', 'early', 'early', 'gone']);
    expect(await server.types(early)).toEqual(['review.requested']);
    await server.db.advanceClock(3_601);
    await until(
      async () => seen,
      (all) => all.filter((one) => one.startsWith('again')).length === 2,
    );
    expect(new Set(seen.filter((one) => one.startsWith('again'))).size).toBe(2);
    expect(await server.types(again)).toHaveLength(3);
  });

  it('a timer that its cause cancelled does not fire', async () => {
    server.loop();
    const stream = await server.schedule(60);
    await server.store.append({
      streams: [{ stream, project: server.project, expectedVersion: 1, events: [{ type: 'review.decided', body: {} }] }],
      meta: {},
      cancel: [{ stream, kind: 'timeout' }],
    });
    await server.db.advanceClock(120);
    await server.pass();
    expect((await server.fired()).map((one) => one.kind)).toEqual(['witness']);
  });

  it('works only the kinds and categories it is given', async () => {
    await server.schedule(0, 'reminder');
    server.loop({ kinds: ['timeout', 'witness'] });
    await server.schedule(0, 'timeout');
    await server.pass();
    await until(server.rows, (count) => count === 1);
    expect((await server.fired()).map((one) => one.kind).sort()).toEqual(['timeout', 'witness']);
  });

  it('fires ten thousand timers that are due at once, each once, though a process is killed with some of them in its hands', async () => {
    const streams: string[] = [];
    for (let i = 0; i < 10; i++) streams.push(...(await Promise.all(Array.from({ length: 1_000 }, () => server.schedule(60)))));
    const child = await server.startProcess(5_000);
    await server.db.advanceClock(61);
    const firedBy = async (process: string) =>
      (await server.db.pool.query('select from fired where process like $1 limit 1', [`${process}%`])).rowCount;
    await until(
      () => firedBy(String(child.pid)),
      (count) => count === 1,
    );
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(await server.rows()).toBeGreaterThan(0);
    server.loop();
    server.loop();
    await until(server.rows, (count) => count === 0);
    expect(await firedBy('here')).toBe(1);
    expect(new Set((await server.fired()).map((one) => one.stream))).toEqual(new Set(streams));
    const { rows } = await server.db.pool.query<{ streams: number; ends: number }>(
      `select count(distinct stream)::int as streams, count(*)::int as ends from event_store.events where type = 'review.expired'`,
    );
    expect(rows).toEqual([{ streams: 10_000, ends: 10_000 }]);
  });
});
