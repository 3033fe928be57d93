/** The loop over a real store, in this process and in others, and what it fired. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { newId, PostgresEventStore } from '@countersign/event-store';
import { createLogger } from '@countersign/telemetry';
import { type TestDatabase, testDatabase, until } from '@countersign/testing';
import { TimerLoop, type TimerLoopOptions } from './timer-loop.js';
import { CATEGORIES, expiring } from './timer-process.js';

const LOADER = fileURLToPath(new URL('../../testing/jest/source.mjs', import.meta.url));
const PROCESS = fileURLToPath(new URL('./timer-process.ts', import.meta.url));

export interface Fired {
  stream: string;
  kind: string;
  process: string;
  early: boolean;
}

export class Server {
  readonly project = newId('prj');
  readonly #loops: TimerLoop[] = [];
  readonly #processes: ChildProcess[] = [];

  private constructor(
    readonly db: TestDatabase,
    readonly store: PostgresEventStore,
  ) {}

  static async start(): Promise<Server> {
    const db = await testDatabase();
    const store = new PostgresEventStore({ pool: db.pool, writer: 'test', categories: CATEGORIES });
    await db.ownerPool.query(`
      create table fired (n bigserial primary key, stream text, kind text, process text, early boolean);
      grant select, insert on fired to countersign_app; grant usage on sequence fired_n_seq to countersign_app`);
    return new Server(db, store);
  }

  /** A handler that fires as a service would, and writes down that `process` did. */
  expiring(process: string): TimerLoopOptions['onDue'] {
    return expiring(this.store, this.db.pool, process);
  }

  loop(options: Partial<TimerLoopOptions> = {}): TimerLoop {
    const one = new TimerLoop({
      pool: this.db.pool,
      categories: CATEGORIES,
      logger: createLogger({ service: 'timers', level: 'silent' }),
      onDue: this.expiring('here'),
      ...options,
    });
    this.#loops.push(one);
    one.start();
    return one;
  }

  async startProcess(leaseMs: number): Promise<ChildProcess> {
    const child = spawn(
      process.execPath,
      [
        ...['--disable-warning=ExperimentalWarning', '--experimental-transform-types', '--import', LOADER],
        ...[PROCESS, this.db.ownerUrl, String(leaseMs)],
      ],
      { stdio: ['ignore', 'pipe', 'inherit'], env: {} },
    );
    this.#processes.push(child);
    await once(child.stdout as NodeJS.ReadableStream, 'data');
    return child;
  }

  async schedule(inSeconds: number, kind = 'timeout', stream = newId('rev')): Promise<string> {
    const { project } = this;
    const result = await this.store.append({
      streams: [{ stream, project, expectedVersion: 'any', events: [{ type: 'review.requested', body: {} }] }],
      meta: {},
      schedule: [{ stream, kind, due: { inSeconds } }],
    });
    if (result.status !== 'appended') throw new Error(`The append was answered ${result.status}.`);
    return stream;
  }

  readonly fired = async (): Promise<Fired[]> =>
    (await this.db.pool.query<Fired>('select stream, kind, process, early from fired order by n')).rows;

  readonly rows = async (): Promise<number> => (await this.db.pool.query('select from event_store.timers')).rowCount ?? 0;

  readonly types = async (stream: string): Promise<string[]> => (await this.store.readStream(stream)).events.map((event) => event.type);

  /** A timer that is due now has fired: whatever was due before has been looked at. */
  async pass(): Promise<void> {
    const witness = await this.schedule(0, 'witness');
    await until(this.fired, (all) => all.some((one) => one.stream === witness));
  }

  async close(): Promise<void> {
    for (const child of this.#processes) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    await Promise.all(this.#loops.map((loop) => loop.close()));
    await this.store.close();
    await this.db.close();
  }
}
