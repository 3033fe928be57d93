/** Wakes one waiter. A notification that comes while nobody waits is kept for the next. */
export class Signal {
  #raised = false;
  #wake: (() => void) | null = null;

  notify(): void {
    this.#raised = true;
    this.#wake?.();
  }

  /** Until notified, or the time has passed. */
  async wait(ms: number): Promise<void> {
    if (!this.#raised) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.#wake = null;
    }
    this.#raised = false;
  }
}
