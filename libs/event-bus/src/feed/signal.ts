/** Wakes one waiter. A notification that comes while nobody waits is kept, so none is lost between a look and the wait after it. */
export class Signal {
  #notified = false;
  #wake: (() => void) | null = null;

  notify(): void {
    this.#notified = true;
    this.#wake?.();
  }

  /** Resolves at the next notification (true) or after the time (false). */
  async wait(ms: number): Promise<boolean> {
    if (!this.#notified && ms > 0) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.#wake = null;
    }
    const notified = this.#notified;
    this.#notified = false;
    return notified;
  }
}
