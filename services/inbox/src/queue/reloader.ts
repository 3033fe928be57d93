/**
 * Loads something again when asked to: one load at a time, and however often it was asked for during a load, one more after it. So a burst
 * of news costs two loads, and none is cut short by the next.
 *
 * A list is read from a model that follows the log, and may not hold yet what the stream has told already: after the last news it is read
 * again at each of `echoesMs`, which costs next to nothing where nothing changed.
 */
export class Reloader {
  readonly #over = new AbortController();
  #due: ReturnType<typeof setTimeout> | undefined;
  #echoes: ReturnType<typeof setTimeout>[] = [];
  #running = false;
  #again = false;

  /** @param soonMs how long news is gathered before a load. */
  constructor(
    private readonly work: (signal: AbortSignal) => Promise<void>,
    private readonly soonMs: number,
    private readonly echoesMs: readonly number[] = [],
  ) {}

  /** There is news. */
  soon(): void {
    if (this.#over.signal.aborted) return;
    for (const echo of this.#echoes) clearTimeout(echo);
    this.#echoes = this.echoesMs.map((ms) => setTimeout(() => void this.now(), ms));
    this.#plan();
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
      if (this.#again) this.#plan();
    }
  }

  /** Ends it, a load under way included. */
  close(): void {
    clearTimeout(this.#due);
    for (const echo of this.#echoes) clearTimeout(echo);
    this.#over.abort();
  }

  #plan(): void {
    if (this.#running) this.#again = true;
    else this.#due ??= setTimeout(() => void this.now(), this.soonMs);
  }
}
