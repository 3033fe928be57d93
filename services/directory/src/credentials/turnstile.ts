import { Retryable } from '@countersign/database';

/**
 * Lets a few in at a time. A password check takes a thread and tens of megabytes for a quarter of a second: however many are asked for, the
 * process keeps threads for everything else, and whoever would wait too long is told to come back.
 */
export class Turnstile {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(private readonly limits: { atOnce: number; waiting: number }) {
    this.#free = limits.atOnce;
  }

  /** @throws {BusyError} when the queue is full. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else {
      if (this.#waiting.length >= this.limits.waiting) throw new BusyError();
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free++;
    }
  }
}

/** The edge answers 503 with `Retry-After`. */
export class BusyError extends Retryable {
  override readonly name = 'BusyError';
  constructor() {
    super('Too many sign-ins are in progress. Try again.', { retryAfterMs: 2_000 });
  }
}

/** The queues of a process for passwords, by where they come from. Together they take the four threads that Node keeps for such work. */
export interface PasswordLanes {
  /** Anybody, two at once. */
  open: Turnstile;
  /** One at a time, for addresses that have failed a lot: others do not queue with them, and the work they can cause has a bound. */
  busy: Turnstile;
  /** One at a time, for people who come from a device or session of their own: they do not queue with guessers. */
  own: Turnstile;
}

/** One set for a process: the threads are its own. */
export const passwordLanes = (): PasswordLanes => ({
  open: new Turnstile({ atOnce: 2, waiting: 100 }),
  busy: new Turnstile({ atOnce: 1, waiting: 20 }),
  own: new Turnstile({ atOnce: 1, waiting: 100 }),
});

/** Runs work in its queue; at once where nobody queues, as in an operator's command. @throws {BusyError} */
export function inTurn<T>({ lanes }: { lanes?: PasswordLanes }, lane: keyof PasswordLanes, work: () => Promise<T>): Promise<T> {
  return lanes ? lanes[lane].run(work) : work();
}
