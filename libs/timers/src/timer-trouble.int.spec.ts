/** What becomes of timers when handlers, connections or processes fail, or end (timer-loop.ts T2, T4). */
import { once } from 'node:events';
import { createPool } from '@countersign/database';
import { EventStoreUnavailableError } from '@countersign/event-store';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Station, until } from './timer-loop.fixture.js';

// Whoever waits gives up when nothing changes any more, not when the machine is slow.
jest.setTimeout(600_000);

let station: Station;
beforeEach(async () => {
  station = await Station.start();
});
afterEach(() => station.close());

describe('TimerLoop in trouble', () => {
  it('T2 another process takes over what a killed one had taken', async () => {
    const child = await station.startProcess(1_000);
    const hanging = await station.schedule(0, 'hang');
    await until(station.fired, (all) => all.some((one) => one.stream === hanging));
    child.kill('SIGKILL');
    await once(child, 'exit');
    station.loop({
      async onDue(timer) {
        return station.expiring('here')({ ...timer, kind: 'timeout' });
      },
    });
    await until(
      () => station.types(hanging),
      (seen) => seen.length === 2,
    );
    expect((await station.fired()).map((one) => one.process)).toEqual([expect.stringContaining(String(child.pid)), 'here']);
    expect(await station.types(hanging)).toEqual(['review.requested', 'review.expired']);
  });

  it('T4 parks a row that cannot be handled, alone, and tries it again when told to', async () => {
    const sick = await station.schedule(0, 'sick');
    let healed = false;
    const timers = station.loop({
      maxAttempts: 3,
      async onDue(timer) {
        if (timer.stream === sick && !healed) throw new TypeError('cannot fold this stream');
        return station.expiring('here')(timer);
      },
    });
    const healthy = await station.schedule(0);
    await until(
      () => station.types(healthy),
      (seen) => seen.length === 2,
    );
    const parked = await until(
      () => timers.parked(),
      (all) => all.length === 1,
    );
    expect(parked).toEqual([
      {
        stream: sick,
        category: 'review',
        kind: 'sick',
        project: station.project,
        dueAt: expect.stringMatching(/Z$/),
        generation: 1,
        attempts: 3,
        parkedAt: expect.stringMatching(/Z$/),
        reason: 'TypeError: cannot fold this stream',
      },
    ]);
    await station.pass();
    expect(await station.types(sick)).toEqual(['review.requested']);
    healed = true;
    expect(await timers.unpark(sick, 'sick')).toBe(true);
    expect(await timers.unpark(healthy, 'timeout')).toBe(false);
    await until(
      () => station.types(sick),
      (seen) => seen.length === 2,
    );
    expect(await timers.parked()).toEqual([]);
  });

  it('T4 a store that takes no appends for a while parks nothing', async () => {
    let refused = 0;
    const stream = await station.schedule(0);
    const timers = station.loop({
      maxAttempts: 1,
      async onDue(timer) {
        if (refused++ < 2) throw new EventStoreUnavailableError('Too many appends wait for the event store.');
        return station.expiring('here')(timer);
      },
    });
    await until(
      () => station.types(stream),
      (seen) => seen.length === 2,
    );
    expect(await timers.parked()).toEqual([]);
  });

  it('goes on when its connections break', async () => {
    const pool = createPool({ connectionString: station.db.ownerUrl, role: 'countersign_app', max: 3, applicationName: 'breaking' });
    const timers = station.loop({ pool });
    await station.pass();
    await station.db.ownerPool.query(`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'breaking'`);
    const stream = await station.schedule(0);
    const types = await until(
      () => station.types(stream),
      (seen) => seen.length === 2,
    );
    expect(types).toEqual(['review.requested', 'review.expired']);
    await timers.close();
    await pool.end();
  });

  it('close() lets what fires finish, and takes nothing any more', async () => {
    let go = () => {};
    const gate = new Promise<void>((resolve) => {
      go = resolve;
    });
    let begun = 0;
    const first = station.loop({
      async onDue(timer) {
        begun++;
        await gate;
        return station.expiring('first')(timer);
      },
    });
    const stream = await station.schedule(0);
    await until(
      async () => begun,
      (count) => count === 1,
    );
    const closing = first.close();
    const late = await station.schedule(0);
    go();
    await closing;
    expect(await station.types(stream)).toEqual(['review.requested', 'review.expired']);
    station.loop();
    await until(
      () => station.types(late),
      (seen) => seen.length === 2,
    );
    expect(begun).toBe(1);
    expect((await station.fired()).map((one) => one.process)).toEqual(['first', 'here']);
  });
});
