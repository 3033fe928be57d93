/**
 * Loads something again when asked to: one load at a time, and however often it was asked for during a load, one more after it. So a burst
 * of news costs two loads, and none is cut short by the next.
 */
export class Reloader {
  readonly #over = new AbortController();
  #due: ReturnType<typeof setTimeout> | undefined;
  #running = false;
  #again = false;

  /** @param soonMs how long news is gathered before a load. */
  constructor(
    private readonly work: (signal: AbortSignal) => Promise<void>,
    private readonly soonMs: number,
  ) {}

  soon(): void {
    if (this.#over.signal.aborted) return;
    if (this.#running) this.#again = true;
    else this.#due ??= setTimeout(() => void this.now(), this.soonMs);
  }

  async now(): Promise<void> {
    clearTimeout(this.#due);
    this.#due = undefined;
    if (this.#over.signal.aborted) return;
    if (this.#running) {
      this.#again = true;
      return;
    }
    this.#running = true;
    this.#again = false;
    try {
      await this.work(this.#over.signal);
    } finally {
      this.#running = false;
      if (this.#again) this.soon();
    }
  }

  /** Ends it, a load under way included. */
  close(): void {
    clearTimeout(this.#due);
    this.#over.abort();
  }
}
