/**
 * The newest events in memory, for all groups and tails of a process that are near the head.
 *
 * W1 Events enter in position order and without a gap: every event after `floor` up to `position` is held.
 * W2 What is held is bounded by number and by weight, whatever the readers do.
 */
import type { StoredEvent } from '@countersign/event-store';
import type { FeedReader } from './feed.js';

const HELD_EVENTS = 2_000;
const HELD_BYTES = 8_000_000;

export class EventWindow {
  readonly #readers = new Set<FeedReader>();
  #events: StoredEvent[] = [];
  #weights: number[] = [];
  #weight = 0;
  #floor = 0;
  #position = 0;

  get position(): number {
    return this.#position;
  }

  follow(reader: FeedReader): () => void {
    this.#readers.add(reader);
    return () => this.#readers.delete(reader);
  }

  /** Held events after a position, at most `limit`, or null when the window does not reach back that far. */
  after(position: number, limit: number): StoredEvent[] | null {
    if (position < this.#floor) return null;
    let low = 0;
    let high = this.#events.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#events[middle] as StoredEvent).position > position) high = middle;
      else low = middle + 1;
    }
    return this.#events.slice(low, low + limit);
  }

  /** Takes the events that follow, up to `upTo`, and tells the readers. @returns their weight, about the bytes they hold. */
  take(page: readonly StoredEvent[], upTo: number): number {
    const before = this.#weight;
    for (const event of page) {
      const weight = weightOf(event.body) + 500;
      this.#events.push(event);
      this.#weights.push(weight);
      this.#weight += weight;
    }
    const taken = this.#weight - before;
    this.#position = upTo;
    let over = 0;
    for (let weight = this.#weight; over < this.#events.length - 1; over++) {
      if (this.#events.length - over <= HELD_EVENTS && weight <= HELD_BYTES) break;
      weight -= this.#weights[over] as number;
    }
    this.#drop(over);
    for (const reader of this.#readers) reader.advanced();
    return taken;
  }

  /** Goes on from a position without the events before it: readers that lack them read the store. */
  jump(position: number): void {
    this.#drop(this.#events.length);
    this.#floor = position;
    this.#position = position;
    for (const reader of this.#readers) reader.advanced();
  }

  /** Forgets what every reader has passed. */
  trim(): void {
    let passed = this.#position;
    for (const reader of this.#readers) passed = Math.min(passed, reader.position);
    let count = 0;
    while (count < this.#events.length && (this.#events[count] as StoredEvent).position <= passed) count++;
    this.#drop(count);
  }

  close(): void {
    this.#readers.clear();
    this.#drop(this.#events.length);
  }

  #drop(count: number): void {
    if (count === 0) return;
    this.#floor = (this.#events[count - 1] as StoredEvent).position;
    this.#events.splice(0, count);
    for (const weight of this.#weights.splice(0, count)) this.#weight -= weight;
  }
}

/** About the bytes a JSON value holds. */
function weightOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 8;
  let weight = 0;
  for (const [key, member] of Object.entries(value)) weight += key.length + weightOf(member);
  return weight;
}
