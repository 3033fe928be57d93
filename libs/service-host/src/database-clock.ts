/**
 * The database's wall clock, for what processes on several machines must agree on to the second, such as how long a signed identity is good
 * for. Not the time of decisions: that is the append's alone.
 */
import type { Logger } from '@countersign/telemetry';
import type { Pool } from 'pg';

const REFRESH_MS = 30_000;

export class DatabaseClock {
  #ahead = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly pool: Pool,
    private readonly logger: Logger,
  ) {}

  /** Resolves after the first look. */
  async start(): Promise<void> {
    await this.#look();
    this.#timer = setInterval(
      () => void this.#look().catch((error) => this.logger.warn({ err: error }, 'cannot read the database clock')),
      REFRESH_MS,
    );
    this.#timer.unref();
  }

  /** Unix milliseconds. */
  now = (): number => Date.now() + this.#ahead;

  stop(): void {
    clearInterval(this.#timer);
  }

  async #look(): Promise<void> {
    const asked = Date.now();
    const { rows } = await this.pool.query<{ ms: number }>('select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms');
    const answered = Date.now();
    this.#ahead = (rows[0] as { ms: number }).ms - (asked + answered) / 2;
  }
}
