/** What becomes of timers when handlers, connections or processes fail, or end (timer-loop.ts T2, T4). */
import { once } from 'node:events';
import { createPool } from '@countersign/database';
import { EventStoreUnavailableError } from '@countersign/event-store';
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

describe('TimerLoop in trouble', () => {
  it('T2 another process takes over what a killed one had taken', async () => {
    const child = await server.startProcess(1_000);
    const hanging = await server.schedule(0, 'hang');
    await until(server.fired, (all) => all.some((one) => one.stream === hanging));
    child.kill('SIGKILL');
    await once(child, 'exit');
    server.loop({
      async onDue(timer) {
        return server.expiring('here')({ ...timer, kind: 'timeout' });
      },
    });
    await until(
      () => server.types(hanging),
      (seen) => seen.length === 2,
    );
    expect((await server.fired()).map((one) => one.process)).toEqual([expect.stringContaining(String(child.pid)), 'here']);
    expect(await server.types(hanging)).toEqual(['review.requested', 'review.expired']);
  });

  it('T4 parks a row that cannot be handled, alone, and tries it again when told to', async () => {
    const sick = await server.schedule(0, 'sick');
    let healed = false;
    const timers = server.loop({
      maxAttempts: 3,
      async onDue(timer) {
        if (timer.stream === sick && !healed) throw new TypeError('cannot fold this stream');
        return server.expiring('here')(timer);
      },
    });
    const healthy = await server.schedule(0);
    await until(
      () => server.types(healthy),
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
        project: server.project,
        dueAt: expect.stringMatching(/Z$/),
        generation: 1,
        attempts: 3,
        parkedAt: expect.stringMatching(/Z$/),
        reason: 'TypeError: cannot fold this stream',
      },
    ]);
    await server.pass();
    expect(await server.types(sick)).toEqual(['review.requested']);
    healed = true;
    expect(await timers.unpark(sick, 'sick')).toBe(true);
    expect(await timers.unpark(healthy, 'timeout')).toBe(false);
    await until(
      () => server.types(sick),
      (seen) => seen.length === 2,
    );
    expect(await timers.parked()).toEqual([]);
  });

  it('T4 a store that takes no appends for a while parks nothing', async () => {
    let refused = 0;
    const stream = await server.schedule(0);
    const timers = server.loop({
      maxAttempts: 1,
      async onDue(timer) {
        if (refused++ < 2) throw new EventStoreUnavailableError('Too many appends wait for the event store.');
        return server.expiring('here')(timer);
      },
    });
    await until(
      () => server.types(stream),
      (seen) => seen.length === 2,
    );
    expect(await timers.parked()).toEqual([]);
  });

  it('goes on when its connections break', async () => {
    const pool = createPool({ connectionString: server.db.ownerUrl, role: 'countersign_app', max: 3, applicationName: 'breaking' });
    const timers = server.loop({ pool });
    await server.pass();
    await server.db.ownerPool.query(`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'breaking'`);
    const stream = await server.schedule(0);
    const types = await until(
      () => server.types(stream),
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
    const first = server.loop({
      async onDue(timer) {
        begun++;
        await gate;
        return server.expiring('first')(timer);
      },
    });
    const stream = await server.schedule(0);
    await until(
      async () => begun,
      (count) => count === 1,
    );
    const closing = first.close();
    const late = await server.schedule(0);
    go();
    await closing;
    expect(await server.types(stream)).toEqual(['review.requested', 'review.expired']);
    server.loop();
    await until(
      () => server.types(late),
      (seen) => seen.length === 2,
    );
    expect(begun).toBe(1);
    expect((await server.fired()).map((one) => one.process)).toEqual(['first', 'here']);
  });
});
