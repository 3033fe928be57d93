import type { EventBus } from '@countersign/event-bus';

/** Wakes those who wait for a review to change. One tail of the log serves all of them. */
export class ReviewChanges {
  readonly #watching = new Map<string, Set<() => void>>();
  #tail: { close(): Promise<void> } | null = null;

  async open(bus: EventBus): Promise<void> {
    this.#tail = await bus.tail({
      from: 'now',
      categories: ['review'],
      onEvents: (events) => {
        for (const { stream } of events) for (const wake of this.#watching.get(stream) ?? []) wake();
      },
    });
  }

  /** Calls back at each change of a review until it is stopped. Begin before loading the review, so that no change falls between. */
  watch(review: string, wake: () => void): () => void {
    const watchers = this.#watching.get(review) ?? new Set();
    this.#watching.set(review, watchers.add(wake));
    return () => {
      watchers.delete(wake);
      if (watchers.size === 0) this.#watching.delete(review);
    };
  }

  async close(): Promise<void> {
    await this.#tail?.close();
  }
}
