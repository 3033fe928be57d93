import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { createPool } from '@countersign/database';
import { EventStoreUnavailableError, newId, PostgresEventStore } from '@countersign/event-store';
import { createLogger } from '@countersign/telemetry';
import { type TestDatabase, testDatabase } from '@countersign/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { TimerLoop, type TimerLoopOptions } from './timer-loop.js';
import { CATEGORIES, expiring } from './timer-process.js';

const LOADER = fileURLToPath(new URL('../../testing/jest/source.mjs', import.meta.url));
const PROCESS = fileURLToPath(new URL('./timer-process.ts', import.meta.url));

let db: TestDatabase;
let store: PostgresEventStore;
const loops: TimerLoop[] = [];
const processes: ChildProcess[] = [];
const project = newId('prj');

beforeEach(async () => {
  db = await testDatabase();
  store = new PostgresEventStore({ pool: db.pool, writer: 'test', categories: CATEGORIES });
  await db.ownerPool.query(`
    create table fired (n bigserial primary key, stream text, kind text, process text, early boolean);
    grant select, insert on fired to countersign_app; grant usage on sequence fired_n_seq to countersign_app`);
});
afterEach(async () => {
  for (const child of processes.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  await Promise.all(loops.splice(0).map((loop) => loop.close()));
  await store.close();
  await db.close();
});

function loop(options: Partial<TimerLoopOptions> = {}): TimerLoop {
  const one = new TimerLoop({
    pool: db.pool,
    categories: CATEGORIES,
    logger: createLogger({ service: 'timers', level: 'silent' }),
    onDue: expiring(store, db.pool, 'here'),
    ...options,
  });
  loops.push(one);
  one.start();
  return one;
}

async function startProcess(leaseMs: number): Promise<ChildProcess> {
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', '--experimental-transform-types', '--import', LOADER, PROCESS, db.ownerUrl, String(leaseMs)],
    { stdio: ['ignore', 'pipe', 'inherit'], env: {} },
  );
  processes.push(child);
  await once(child.stdout as NodeJS.ReadableStream, 'data');
  return child;
}

async function schedule(inSeconds: number, kind = 'timeout', stream = newId('rev')): Promise<string> {
  const result = await store.append({
    streams: [{ stream, project, expectedVersion: 'any', events: [{ type: 'review.requested', body: {} }] }],
    meta: {},
    schedule: [{ stream, kind, due: { inSeconds } }],
  });
  expect(result.status).toBe('appended');
  return stream;
}

interface Fired {
  stream: string;
  kind: string;
  process: string;
  early: boolean;
}
const fired = async (): Promise<Fired[]> => (await db.pool.query<Fired>('select stream, kind, process, early from fired order by n')).rows;
const rows = async (): Promise<number> => (await db.pool.query('select from event_store.timers')).rowCount ?? 0;

async function until<T>(look: () => Promise<T>, holds: (seen: T) => boolean): Promise<T> {
  const deadline = Date.now() + 30_000;
  for (;;) {
    const seen = await look();
    if (holds(seen)) return seen;
    if (Date.now() > deadline) throw new Error(`Waited in vain; last seen: ${JSON.stringify(seen).slice(0, 1_000)}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** A timer that is due now has fired: whatever was due before has been looked at. */
async function pass(): Promise<void> {
  const witness = await schedule(0, 'witness');
  await until(fired, (all) => all.some((one) => one.stream === witness));
}

const types = async (stream: string): Promise<string[]> => (await store.readStream(stream)).events.map((event) => event.type);

describe('TimerLoop', () => {
  it('T1 fires when the database clock gets there, never before, and the append takes the row away', async () => {
    loop();
    const stream = await schedule(3_570);
    const soon = await schedule(3_500);
    await pass();
    await db.advanceClock(3_510);
    await until(fired, (all) => all.some((one) => one.stream === soon));
    await pass();
    expect(await types(stream)).toEqual(['review.requested']);
    await db.advanceClock(90);
    await until(
      () => types(stream),
      (seen) => seen.length === 2,
    );
    expect(await types(stream)).toEqual(['review.requested', 'review.expired']);
    await until(rows, (count) => count === 0);
    expect((await fired()).filter((one) => one.early)).toEqual([]);
  });

  it('T2 fires each timer once with four loops in three processes', async () => {
    await startProcess(10_000);
    await startProcess(10_000);
    loop();
    const streams: string[] = [];
    for (let wave = 0; wave < 4; wave++) {
      streams.push(...(await Promise.all(Array.from({ length: 100 }, (_, i) => schedule(60 + i / 50)))));
      await db.advanceClock(61);
    }
    await db.advanceClock(60);
    await until(rows, (count) => count === 0);
    const all = await fired();
    expect(all.map((one) => one.stream).sort()).toEqual([...streams].sort());
    expect(all.filter((one) => one.early)).toEqual([]);
    expect(new Set(all.map((one) => one.process)).size).toBeGreaterThan(2);
    for (const stream of streams.slice(0, 20)) expect(await types(stream)).toEqual(['review.requested', 'review.expired']);
  }, 60_000);

  it('T2 another process takes over what a killed one had taken', async () => {
    const child = await startProcess(1_000);
    const hanging = await schedule(0, 'hang');
    await until(fired, (all) => all.some((one) => one.stream === hanging));
    child.kill('SIGKILL');
    await once(child, 'exit');
    loop({
      async onDue(timer) {
        return expiring(store, db.pool, 'here')({ ...timer, kind: 'timeout' });
      },
    });
    await until(
      () => types(hanging),
      (seen) => seen.length === 2,
    );
    expect((await fired()).map((one) => one.process)).toEqual([expect.stringContaining(String(child.pid)), 'here']);
    expect(await types(hanging)).toEqual(['review.requested', 'review.expired']);
  });

  it('T2 a table that was rebuilt is worked as the old one was, whatever claims and parkings it held', async () => {
    const due = await schedule(0);
    const later = await schedule(3_600);
    await db.ownerPool.query(`
      update event_store.timers set claimed_until = clock_timestamp() + interval '1 hour', attempts = 5, parked_at = now(), parked_reason = 'old';
      create temp table kept as select stream, category, kind, project, due_at, generation from event_store.timers;
      truncate event_store.timers;
      insert into event_store.timers (stream, category, kind, project, due_at, generation) select * from kept`);
    loop();
    await until(
      () => types(due),
      (seen) => seen.length === 2,
    );
    await pass();
    expect(await types(later)).toEqual(['review.requested']);
    await db.advanceClock(3_600);
    await until(
      () => types(later),
      (seen) => seen.length === 2,
    );
    await until(rows, (count) => count === 0);
    expect((await fired()).filter((one) => one.kind === 'timeout').map((one) => one.stream)).toEqual([due, later]);
  });

  it('T3 a row scheduled anew while it fires is another timer; one that is not wanted goes; one that is too early stays', async () => {
    const seen: string[] = [];
    const again = await schedule(0, 'again');
    await schedule(0, 'gone');
    const early = await schedule(0, 'early');
    loop({
      // The claim on the old row must not outlive it.
      leaseMs: 3_600_000,
      async onDue(timer) {
        seen.push(`${timer.kind} ${timer.dueAt}`);
        if (timer.kind === 'again') {
          await schedule(3_600, 'again', timer.stream);
          return 'fired';
        }
        if (timer.kind === 'early') return seen.filter((one) => one.startsWith('early')).length < 3 ? 'not_due' : 'gone';
        return 'gone';
      },
    });
    await until(rows, (count) => count === 1);
    expect(seen.map((one) => one.split(' ')[0]).sort()).toEqual(['again', 'early', 'early', 'early', 'gone']);
    expect(await types(early)).toEqual(['review.requested']);
    await db.advanceClock(3_601);
    await until(
      async () => seen,
      (all) => all.filter((one) => one.startsWith('again')).length === 2,
    );
    expect(new Set(seen.filter((one) => one.startsWith('again'))).size).toBe(2);
    expect(await types(again)).toHaveLength(3);
  });

  it('a timer that its cause cancelled does not fire', async () => {
    loop();
    const stream = await schedule(60);
    await store.append({
      streams: [{ stream, project, expectedVersion: 1, events: [{ type: 'review.decided', body: {} }] }],
      meta: {},
      cancel: [{ stream, kind: 'timeout' }],
    });
    await db.advanceClock(120);
    await pass();
    expect((await fired()).map((one) => one.kind)).toEqual(['witness']);
  });

  it('T4 parks a row that cannot be handled, alone, and tries it again when told to', async () => {
    const sick = await schedule(0, 'sick');
    let healed = false;
    const timers = loop({
      maxAttempts: 3,
      async onDue(timer) {
        if (timer.stream === sick && !healed) throw new TypeError('cannot fold this stream');
        return expiring(store, db.pool, 'here')(timer);
      },
    });
    const healthy = await schedule(0);
    await until(
      () => types(healthy),
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
        project,
        dueAt: expect.stringMatching(/Z$/),
        generation: 1,
        attempts: 3,
        parkedAt: expect.stringMatching(/Z$/),
        reason: 'TypeError: cannot fold this stream',
      },
    ]);
    await pass();
    expect(await types(sick)).toEqual(['review.requested']);
    healed = true;
    expect(await timers.unpark(sick, 'sick')).toBe(true);
    expect(await timers.unpark(healthy, 'timeout')).toBe(false);
    await until(
      () => types(sick),
      (seen) => seen.length === 2,
    );
    expect(await timers.parked()).toEqual([]);
  });

  it('T4 a store that takes no appends for a while parks nothing', async () => {
    let refused = 0;
    const stream = await schedule(0);
    const timers = loop({
      maxAttempts: 1,
      async onDue(timer) {
        if (refused++ < 2) throw new EventStoreUnavailableError('Too many appends wait for the event store.');
        return expiring(store, db.pool, 'here')(timer);
      },
    });
    await until(
      () => types(stream),
      (seen) => seen.length === 2,
    );
    expect(await timers.parked()).toEqual([]);
  });

  it('works only the kinds and categories it is given', async () => {
    await schedule(0, 'reminder');
    loop({ kinds: ['timeout', 'witness'] });
    await schedule(0, 'timeout');
    await pass();
    await until(rows, (count) => count === 1);
    expect((await fired()).map((one) => one.kind).sort()).toEqual(['timeout', 'witness']);
  });

  it('goes on when its connections break', async () => {
    const pool = createPool({ connectionString: db.ownerUrl, role: 'countersign_app', max: 3, applicationName: 'breaking' });
    const timers = loop({ pool });
    await pass();
    await db.ownerPool.query(`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'breaking'`);
    const stream = await schedule(0);
    await until(
      () => types(stream),
      (seen) => seen.length === 2,
    );
    await timers.close();
    await pool.end();
  });

  it('fires ten thousand timers that are due at once, each once', async () => {
    const streams: string[] = [];
    for (let i = 0; i < 10; i++) streams.push(...(await Promise.all(Array.from({ length: 1_000 }, () => schedule(60)))));
    loop();
    loop();
    await db.advanceClock(61);
    await until(rows, (count) => count === 0);
    const all = await fired();
    expect(all).toHaveLength(10_000);
    expect(new Set(all.map((one) => one.stream))).toEqual(new Set(streams));
  }, 120_000);

  it('close() lets what fires finish, and takes nothing any more', async () => {
    let go = () => {};
    const gate = new Promise<void>((resolve) => {
      go = resolve;
    });
    let begun = 0;
    const first = loop({
      async onDue(timer) {
        begun++;
        await gate;
        return expiring(store, db.pool, 'first')(timer);
      },
    });
    const stream = await schedule(0);
    await until(
      async () => begun,
      (count) => count === 1,
    );
    const closing = first.close();
    const late = await schedule(0);
    go();
    await closing;
    expect(await types(stream)).toEqual(['review.requested', 'review.expired']);
    loop();
    await until(
      () => types(late),
      (seen) => seen.length === 2,
    );
    expect(begun).toBe(1);
    expect((await fired()).map((one) => one.process)).toEqual(['first', 'here']);
  });
});
