/**
 * What has been started and must be ended again, last started first: on the way out, and when a later step of the start fails.
 *
 * Every step is tried, whatever an earlier one threw; the first error is thrown at the end. A second call waits for the first.
 */
export class Teardown {
  readonly #steps: (() => Promise<unknown> | unknown)[] = [];
  #running: Promise<void> | null = null;

  add(step: () => Promise<unknown> | unknown): void {
    this.#steps.push(step);
  }

  run(): Promise<void> {
    this.#running ??= this.#run();
    return this.#running;
  }

  async #run(): Promise<void> {
    const errors: unknown[] = [];
    for (let step = this.#steps.pop(); step; step = this.#steps.pop()) {
      try {
        await step();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
  }
}
