import type { EventStore, StoredEvent } from '@countersign/event-store';
import { type Frame, factsAfter, framesOf, type ReviewFacts } from './frames.js';

/** Reviews whose facts are kept; about 300 bytes each. */
const MOST_REVIEWS = 20_000;

/**
 * Turns events into frames. What a frame says beside its own fact is remembered from earlier events of the review; a review this process
 * has not met (after a restart, or in a replay) is read from the store once.
 */
export class FrameMaker {
  readonly #known = new Map<string, { version: number; facts: ReviewFacts | null }>();

  constructor(private readonly store: Pick<EventStore, 'readStream'>) {}

  /** @param events of reviews, in the order of the store. */
  async make(events: readonly StoredEvent[]): Promise<Frame[]> {
    const frames: Frame[] = [];
    for (const event of events) {
      const facts = await this.#factsAt(event);
      if (facts) frames.push(...framesOf(event, facts));
    }
    return frames;
  }

  async #factsAt(event: StoredEvent): Promise<ReviewFacts | null> {
    const known = this.#known.get(event.stream);
    const facts =
      known && known.version === event.version - 1
        ? factsAfter(known.facts, event)
        : event.version === 1
          ? factsAfter(null, event)
          : await this.#read(event.stream, event.version);
    // Set anew, so that the map's order is that of use.
    this.#known.delete(event.stream);
    this.#known.set(event.stream, { version: event.version, facts });
    if (this.#known.size > MOST_REVIEWS) this.#known.delete(this.#known.keys().next().value as string);
    return facts;
  }

  async #read(stream: string, upToVersion: number): Promise<ReviewFacts | null> {
    const { events } = await this.store.readStream(stream, { upToVersion });
    return events.reduce(factsAfter, null as ReviewFacts | null);
  }
}
