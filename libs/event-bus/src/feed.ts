/**
 * The newest events, read once for all groups and tails of a process that are near the head. Whoever is further behind reads the store
 * for itself.
 *
 * F1 Events enter in position order and without a gap. Positions are given under the store's head lock, so commit order is position
 *    order, and reading past the last one seen cannot skip a transaction that commits late.
 * F2 Polling is the truth: every second while notifications arrive, four times a second while they cannot. A notification only shortens
 *    the wait.
 * F3 What is held is bounded by number and by weight, whatever the readers do.
 */
import type { EventStore, StoredEvent } from '@countersign/event-store';
import type { Logger } from '@countersign/telemetry';
import { Signal } from './signal.js';

/** Follows the feed: told when it moved; `position` is how far the reader is, so that what everybody has passed can be dropped. */
export interface FeedReader {
  readonly position: number;
  advanced(): void;
}

const PAGE_EVENTS = 500;
const PAGE_BYTES = 4_000_000;
const HELD_EVENTS = 2_000;
const HELD_BYTES = 8_000_000;
const POLL_MS = 1_000;
const POLL_UNANNOUNCED_MS = 250;
const LONGEST_ERROR_DELAY_MS = 2_000;
/** Polls in a row that found events no notification had told of, before the listener is taken for deaf. */
const DEAF_AFTER = 3;

export class Feed {
  readonly #store: Pick<EventStore, 'readAll' | 'head'>;
  readonly #listener: { readonly connected: boolean; reconnect(): void };
  readonly #logger: Logger;
  readonly #readers = new Set<FeedReader>();
  readonly #signal = new Signal();
  #events: StoredEvent[] = [];
  #weights: number[] = [];
  #weight = 0;
  /** Every event after `#floor` up to `#position` is held. */
  #floor = 0;
  #position = 0;
  #announced = false;
  #unannounced = 0;
  #closed = false;
  #running: Promise<void> = Promise.resolve();

  constructor(options: {
    store: Pick<EventStore, 'readAll' | 'head'>;
    listener: { readonly connected: boolean; reconnect(): void };
    logger: Logger;
  }) {
    this.#store = options.store;
    this.#listener = options.listener;
    this.#logger = options.logger;
  }

  /** Everything committed up to here has been read, by the feed or before it started. */
  get position(): number {
    return this.#position;
  }

  async start(): Promise<void> {
    this.#position = (await this.#store.head()).position;
    this.#floor = this.#position;
    this.#running = this.#run();
  }

  /** A notification came: the store has something new. */
  announce(): void {
    this.#announced = true;
    this.#signal.notify();
  }

  /** Looks without waiting for the poll. */
  wake(): void {
    this.#signal.notify();
  }

  follow(reader: FeedReader): () => void {
    this.#readers.add(reader);
    return () => this.#readers.delete(reader);
  }

  /** Held events after a position, at most `limit`, or null when the feed does not reach back that far. */
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

  async close(): Promise<void> {
    this.#closed = true;
    this.#signal.notify();
    await this.#running;
    this.#readers.clear();
    this.#drop(this.#events.length);
  }

  async #run(): Promise<void> {
    let failures = 0;
    let polled = false;
    while (!this.#closed) {
      const poll = this.#listener.connected && this.#unannounced === 0 ? POLL_MS : POLL_UNANNOUNCED_MS;
      let pause = poll;
      try {
        const page = await this.#store.readAll({ after: this.#position, limit: PAGE_EVENTS, maxBytes: PAGE_BYTES });
        failures = 0;
        if (page.length > 0) this.#take(page, polled);
        // A page that was cut short by a limit has more behind it; what came during the read has left its notification in the signal.
        if (page.length === PAGE_EVENTS || pageIsHeavy(this.#weights, page.length)) pause = 0;
        this.#trim();
      } catch (error) {
        if (failures === 0) this.#logger.warn({ err: error }, 'cannot read new events: trying until it works');
        pause = Math.min(LONGEST_ERROR_DELAY_MS, POLL_UNANNOUNCED_MS * 2 ** failures++);
      }
      polled = !(await this.#signal.wait(pause)) && pause === poll;
    }
  }

  #take(page: StoredEvent[], polled: boolean): void {
    this.#checkHearing(polled);
    for (const event of page) {
      const weight = weightOf(event.body) + 500;
      this.#events.push(event);
      this.#weights.push(weight);
      this.#weight += weight;
      this.#position = event.position;
    }
    let over = 0;
    for (let weight = this.#weight; over < this.#events.length - 1; over++) {
      if (this.#events.length - over <= HELD_EVENTS && weight <= HELD_BYTES) break;
      weight -= this.#weights[over] as number;
    }
    this.#drop(over);
    for (const reader of this.#readers) reader.advanced();
  }

  /** A connection can die without a word. Events that the poll finds again and again, and no notification announced, tell of it. */
  #checkHearing(polled: boolean): void {
    this.#unannounced = polled && !this.#announced ? this.#unannounced + 1 : 0;
    this.#announced = false;
    if (this.#unannounced < DEAF_AFTER || !this.#listener.connected) return;
    this.#unannounced = 0;
    this.#listener.reconnect();
  }

  #trim(): void {
    let passed = this.#position;
    for (const reader of this.#readers) passed = Math.min(passed, reader.position);
    let count = 0;
    while (count < this.#events.length && (this.#events[count] as StoredEvent).position <= passed) count++;
    this.#drop(count);
  }

  #drop(count: number): void {
    if (count === 0) return;
    this.#floor = (this.#events[count - 1] as StoredEvent).position;
    this.#events.splice(0, count);
    for (const weight of this.#weights.splice(0, count)) this.#weight -= weight;
  }
}

/** Whether a page may have been cut by its bytes. The weight counts characters, of which a byte holds as little as a third. */
function pageIsHeavy(weights: number[], length: number): boolean {
  let weight = 0;
  for (const one of length > 0 ? weights.slice(-length) : []) weight += one;
  return weight >= PAGE_BYTES / 4;
}

/** About the bytes a JSON value holds. */
function weightOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 8;
  let weight = 0;
  for (const [key, member] of Object.entries(value)) weight += key.length + weightOf(member);
  return weight;
}
