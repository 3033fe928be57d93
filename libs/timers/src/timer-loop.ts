/**
 * Makes what is due happen (K7, K8). No leader: any number of processes run this loop over the same rows.
 *
 * T1 Never early: a row is taken only once the database's clock, the one its append is judged by, has reached it.
 * T2 Once: a taken row is nobody else's until its lease ends. A process that dies leaves its rows to the others after that; the handler's
 *    append then decides, so a timer that fires twice still takes effect once.
 * T3 A row goes away when its append won (which cancels or replaces it itself) or the rules say it is no longer wanted, never before.
 * T4 A row whose handler throws is tried again with growing delays and parked alone after `maxAttempts`; the others are not held up. A
 *    database that is out of reach is nobody's fault and is not counted.
 * T5 The loop sleeps until the next row is due and at most POLL_MS, so that a row scheduled meanwhile, or a clock set forward, is noticed
 *    in time even when no `wake` comes.
 */
import { isPassing } from '@countersign/database';
import { type Logger, observe } from '@countersign/telemetry';
import type { Pool } from 'pg';
import { DueRows, type DueTimer, type ParkedTimer } from './due-rows.js';
import { observedFiring } from './observed-firing.js';

/**
 * `fired`: the append went through. `gone`: the rules no longer want it, take the row away. `not_due`: the rules say it is too early
 * after all; it is asked for again a little later.
 */
export type DueOutcome = 'fired' | 'not_due' | 'gone';

export interface TimerLoopOptions {
  /** Connections under the application's role. */
  pool: Pool;
  /** Whose rows: category → prefix of its streams' ids, as the event store is given. */
  categories: Record<string, string>;
  /** Only these kinds; all when omitted. */
  kinds?: readonly string[];
  onDue(timer: DueTimer): Promise<DueOutcome>;
  logger: Logger;
  /** Calls back when something may have been scheduled, such as `StoreEventBus.onAppend`; returns how to stop. */
  wake?: (listener: () => void) => () => void;
  /** Timers worked at a time; 100 when omitted. */
  concurrency?: number;
  /** How long a taken row stays with a process that does not answer for it any more; 10 s when omitted. */
  leaseMs?: number;
  /** Failures after which a row is parked; 8 when omitted. */
  maxAttempts?: number;
}

const POLL_MS = 240;
/** Rows that become due one after the other are taken together: a look for each would cost more than it wins. */
const SHORTEST_MS = 10;
const JITTER_MS = 10;
const WAKE_SPACING_MS = 25;
const NOT_DUE_DELAY_MS = 250;
const UNAVAILABLE_DELAY_MS = 1_000;
const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 60_000;

export class TimerLoop {
  readonly #options: Required<Omit<TimerLoopOptions, 'wake' | 'kinds'>>;
  readonly #rows: DueRows;
  readonly #working = new Set<Promise<void>>();
  readonly #stopWaking: (() => void) | undefined;
  #done: DueTimer[] = [];
  #nudge: (() => void) | null = null;
  #lookedAt = 0;
  #lookAt = Number.POSITIVE_INFINITY;
  #failures = 0;
  #unobserve = () => {};
  #closed = false;
  #running: Promise<void> | null = null;

  constructor(options: TimerLoopOptions) {
    this.#options = { concurrency: 100, leaseMs: 10_000, maxAttempts: 8, ...options };
    this.#rows = new DueRows(options.pool, options.categories, options.kinds ?? null);
    this.#stopWaking = options.wake?.(() => this.#look('soon'));
  }

  start(): void {
    this.#unobserve = observe(['timersParked'], async (report) => report('timersParked', (await this.parked()).length, {}));
    this.#running ??= this.#run();
  }

  /** Lets the handlers that run finish; nothing is taken any more. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#unobserve();
    this.#stopWaking?.();
    this.#look('now');
    await this.#running;
    await Promise.all(this.#working);
    await this.#flush();
  }

  parked(): Promise<ParkedTimer[]> {
    return this.#rows.parked();
  }

  /** Tries a parked row again, with all its attempts. False when it is not parked. */
  async unpark(stream: string, kind: string): Promise<boolean> {
    const found = await this.#rows.unpark(stream, kind);
    this.#look('now');
    return found;
  }

  async #run(): Promise<void> {
    const { concurrency, leaseMs, logger } = this.#options;
    while (!this.#closed) {
      const free = concurrency - this.#working.size;
      let pause = POLL_MS;
      const take = async () => {
        const { due, nextMs } = await this.#rows.claim(free, leaseMs);
        for (const timer of due) this.#begin(timer);
        if (due.length === free) pause = 0;
        else if (nextMs !== null) pause = Math.min(POLL_MS, Math.max(nextMs, SHORTEST_MS));
      };
      try {
        await Promise.all([this.#flush(), free >= concurrency / 2 ? take() : undefined]);
        this.#failures = 0;
      } catch (error) {
        if (this.#failures++ === 0) logger.warn({ err: error }, 'due timers could not be claimed, retrying');
      }
      if (pause > 0) await this.#sleep(Math.ceil(pause) + Math.random() * JITTER_MS);
    }
  }

  #begin(timer: DueTimer): void {
    const work = this.#fire(timer).finally(() => {
      this.#working.delete(work);
      // Half the slots are free again: there may be more to take.
      if (this.#working.size === Math.floor(this.#options.concurrency / 2)) this.#look('now');
    });
    this.#working.add(work);
  }

  async #fire(timer: DueTimer): Promise<void> {
    const { logger, maxAttempts } = this.#options;
    const about = { stream: timer.stream, kind: timer.kind, generation: timer.generation };
    try {
      const outcome = await observedFiring(timer, () => this.#options.onDue(timer));
      if (outcome === 'not_due') await this.#rows.putOff(timer, NOT_DUE_DELAY_MS, false);
      else this.#done.push(timer);
    } catch (error) {
      const attempt = timer.attempts + 1;
      try {
        if (isPassing(error)) {
          await this.#rows.putOff(timer, UNAVAILABLE_DELAY_MS, false);
          logger.warn({ ...about, err: error }, 'timer not handled, database unreachable, retrying');
        } else if (attempt >= maxAttempts) {
          await this.#rows.park(timer, reasonOf(error));
          logger.error({ ...about, attempt, err: error }, 'timer parked after a failure, waiting to be unparked');
        } else {
          await this.#rows.putOff(timer, retryDelay(attempt), true);
          logger.warn({ ...about, attempt, err: error }, 'timer not handled, retrying');
        }
      } catch (failure) {
        // The row comes back when its lease ends.
        logger.warn({ ...about, attempt, err: failure, cause: error }, 'failed timer could not be rescheduled');
      }
    }
  }

  async #flush(): Promise<void> {
    if (this.#done.length === 0) return;
    const done = this.#done;
    this.#done = [];
    try {
      await this.#rows.remove(done);
    } catch (error) {
      this.#done.push(...done);
      if (this.#closed) this.#options.logger.warn({ err: error }, 'fired timers could not be removed, their handlers will run again');
      else throw error;
    }
  }

  /** There may be something to take. `soon` for appends, which come by the thousand and are not each worth a look. */
  #look(when: 'now' | 'soon'): void {
    this.#lookAt = Math.min(this.#lookAt, when === 'now' ? 0 : this.#lookedAt + WAKE_SPACING_MS);
    this.#nudge?.();
  }

  async #sleep(ms: number): Promise<void> {
    this.#lookedAt = performance.now();
    const end = this.#lookedAt + ms;
    for (;;) {
      const left = Math.min(end, this.#lookAt) - performance.now();
      if (left <= 0) break;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left);
        this.#nudge = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.#nudge = null;
    }
    this.#lookAt = Number.POSITIVE_INFINITY;
  }
}

function retryDelay(attempt: number): number {
  const full = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.min(attempt - 1, 16));
  return full / 2 + Math.random() * (full / 2);
}

function reasonOf(error: unknown): string {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return text.replace(/\s+/g, ' ').slice(0, 500);
}
