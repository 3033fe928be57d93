/**
 * The database's wall clock, for what processes on several machines must agree on to the second, such as how long a signed identity is good
 * for. Not the time of decisions: that is the append's alone.
 *
 * Between two looks it runs by the monotonic clock: the machine's wall clock may be set by an hour at any moment. The monotonic one stands still
 * while a machine sleeps; where the two disagree all of a sudden, the database is asked at once.
 */
import type { Logger } from '@countersign/telemetry';
import type { Pool } from 'pg';

const REFRESH_MS = 30_000;
/** More than any correction by small steps. */
const LEAP_MS = 1_000;

export class DatabaseClock {
  #ahead = 0;
  /** How far the two clocks of this process were apart at the last look. */
  #apart = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly pool: Pool,
    private readonly logger: Logger,
  ) {}

  /** Resolves after the first look. */
  async start(): Promise<void> {
    this.#apart = Date.now() - performance.now();
    await this.#look();
    this.#timer = setInterval(() => this.#refresh(), REFRESH_MS);
    this.#timer.unref();
  }

  /** Unix milliseconds. */
  now = (): number => {
    if (Math.abs(Date.now() - performance.now() - this.#apart) > LEAP_MS) this.#refresh();
    return performance.now() + this.#ahead;
  };

  stop(): void {
    clearInterval(this.#timer);
  }

  #refresh(): void {
    this.#apart = Date.now() - performance.now();
    this.#look().catch((error) => this.logger.warn({ err: error }, 'cannot read the database clock'));
  }

  async #look(): Promise<void> {
    const asked = performance.now();
    const { rows } = await this.pool.query<{ ms: number }>('select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms');
    const answered = performance.now();
    this.#ahead = (rows[0] as { ms: number }).ms - (asked + answered) / 2;
  }
}
