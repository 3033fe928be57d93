import { Retryable } from '@countersign/database';

/**
 * Lets a few in at a time. A password check takes a thread and tens of megabytes for a quarter of a second: however many are asked for, the
 * process keeps threads for everything else.
 *
 * Q1 Callers take turns: whoever asks a lot waits for themselves, and another who asks once is next but for those who asked once before.
 * Q2 A caller has a bound of their own, and all together have one. Beyond it nothing is queued and nothing is computed.
 * Q3 Nobody waits longer than their own caller would: what is answered after that is work for nobody.
 */
export class Turnstile {
  #free: number;
  #waiting = 0;
  /** By caller; who is first has the next turn. Nobody stands in it with an empty list. */
  readonly #queues = new Map<string, Waiter[]>();

  constructor(private readonly limits: TurnstileLimits) {
    this.#free = limits.atOnce;
  }

  /** @throws {BusyError} when the caller's queue or the whole is full, or their turn did not come in time. */
  async run<T>(caller: string, work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await this.#turn(caller);
    try {
      return await work();
    } finally {
      this.#next();
    }
  }

  #turn(caller: string): Promise<void> {
    const queue = this.#queues.get(caller) ?? [];
    if (queue.length >= this.limits.waitingEach) throw new BusyError('caller');
    if (this.#waiting >= this.limits.waiting) throw new BusyError('all');
    return new Promise<void>((resolve, reject) => {
      const waiter: Waiter = {
        enter: resolve,
        patience: setTimeout(() => {
          this.#leave(caller, waiter);
          reject(new BusyError('all'));
        }, this.limits.patienceMs),
      };
      queue.push(waiter);
      this.#queues.set(caller, queue);
      this.#waiting++;
    });
  }

  #next(): void {
    const [first] = this.#queues;
    if (!first) {
      this.#free++;
      return;
    }
    const [caller, queue] = first;
    const [waiter] = queue as [Waiter, ...Waiter[]];
    this.#leave(caller, waiter);
    // To the end of the line, for what they still have in it.
    if (this.#queues.delete(caller)) this.#queues.set(caller, queue);
    waiter.enter();
  }

  #leave(caller: string, waiter: Waiter): void {
    clearTimeout(waiter.patience);
    const queue = this.#queues.get(caller) ?? [];
    queue.splice(queue.indexOf(waiter), 1);
    if (queue.length === 0) this.#queues.delete(caller);
    this.#waiting--;
  }
}

export interface TurnstileLimits {
  atOnce: number;
  /** How many may wait, all callers together. */
  waiting: number;
  /** How many of one caller may. */
  waitingEach: number;
  patienceMs: number;
}

interface Waiter {
  enter(): void;
  patience: NodeJS.Timeout;
}

/** Whose queue was full: the caller's own, or everybody's. Where nobody answers it otherwise, the edge says 503 with `Retry-After`. */
export class BusyError extends Retryable {
  override readonly name = 'BusyError';
  constructor(readonly queue: 'caller' | 'all') {
    super('Too many sign-ins are in progress. Try again.', { retryAfterMs: 2_000 });
  }
}

/** The queues of a process for passwords, by where they come from. Together they take the four threads that Node keeps for such work. */
export interface PasswordLanes {
  /** Anybody, two at once. */
  open: Turnstile;
  /** One at a time, for addresses that have failed a lot: others do not queue with them, and the work they can cause has a bound. */
  busy: Turnstile;
  /** One at a time, for people who come from a device, session or invitation of their own: they do not queue with guessers. */
  own: Turnstile;
}

/** As long as a browser or a load balancer is sure to wait. */
const PATIENCE_MS = 10_000;

/** One set for a process: the threads are its own. */
export const passwordLanes = (): PasswordLanes => {
  // An office behind one address signs in at nine o'clock.
  const limits = { waiting: 320, waitingEach: 32, patienceMs: PATIENCE_MS };
  return {
    open: new Turnstile({ ...limits, atOnce: 2 }),
    busy: new Turnstile({ ...limits, atOnce: 1, waiting: 20, waitingEach: 8 }),
    own: new Turnstile({ ...limits, atOnce: 1 }),
  };
};

/** Where work stands in line. */
export interface Place {
  lane: keyof PasswordLanes;
  /** With whom it takes turns: an address, a device, a person. */
  caller: string;
}

/** Runs work in its queue; at once where nobody queues, as in an operator's command. @throws {BusyError} */
export function inTurn<T>({ lanes }: { lanes?: PasswordLanes }, { lane, caller }: Place, work: () => Promise<T>): Promise<T> {
  return lanes ? lanes[lane].run(caller, work) : work();
}
