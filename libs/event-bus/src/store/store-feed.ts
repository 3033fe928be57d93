/**
 * The feed of a single database: new events are read from the store, once for all groups and tails of a process that are near the head.
 * Whoever is further behind reads the store for itself.
 *
 * F1 Events enter in position order and without a gap. Positions are given under the store's head lock, so commit order is position
 *    order, and reading past the last one seen cannot skip a transaction that commits late.
 * F2 Polling is the truth: every second while notifications arrive, four times a second while they cannot. A notification only shortens
 *    the wait.
 */
import type { EventStore, StoredEvent } from '@countersign/event-store';
import type { Logger } from '@countersign/telemetry';
import type { Feed, FeedReader } from '../feed/feed.js';
import { observePage } from '../feed/observed-page.js';
import { Signal } from '../feed/signal.js';
import { EventWindow } from '../feed/window.js';
import type { BusHealth } from '../port.js';

const PAGE_EVENTS = 500;
const PAGE_BYTES = 4_000_000;
const POLL_MS = 1_000;
const POLL_UNANNOUNCED_MS = 250;
const LONGEST_ERROR_DELAY_MS = 2_000;
/** Polls in a row that found events no notification had told of, before the listener is taken for deaf. */
const DEAF_AFTER = 3;

export class StoreFeed implements Feed {
  readonly #store: Pick<EventStore, 'readAll' | 'head'>;
  readonly #listener: { readonly connected: boolean; reconnect(): void };
  readonly #logger: Logger;
  readonly #signal = new Signal();
  readonly #window = new EventWindow();
  #announced = false;
  #unannounced = 0;
  #failing = false;
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

  get position(): number {
    return this.#window.position;
  }

  async start(): Promise<void> {
    this.#window.jump((await this.#store.head()).position);
    this.#running = this.#run();
  }

  announce(): void {
    this.#announced = true;
    this.#signal.notify();
  }

  wake(): void {
    this.#signal.notify();
  }

  follow(reader: FeedReader): () => void {
    return this.#window.follow(reader);
  }

  after(position: number, limit: number): StoredEvent[] | null {
    return this.#window.after(position, limit);
  }

  health(): BusHealth {
    return this.#failing ? { ok: false, detail: 'Events cannot be read.' } : { ok: true };
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#signal.notify();
    await this.#running;
    this.#window.close();
  }

  async #run(): Promise<void> {
    let failures = 0;
    let polled = false;
    while (!this.#closed) {
      const poll = this.#listener.connected && this.#unannounced === 0 ? POLL_MS : POLL_UNANNOUNCED_MS;
      let pause = poll;
      try {
        const began = Date.now();
        const page = await this.#store.readAll({ after: this.position, limit: PAGE_EVENTS, maxBytes: PAGE_BYTES });
        failures = 0;
        this.#failing = false;
        observePage(
          'event_store',
          began,
          page.map(({ meta }) => meta),
        );
        const weight = page.length > 0 ? this.#take(page, polled) : 0;
        this.#window.trim();
        // A page that was cut short by a limit has more behind it; what came during the read has left its notification in the signal. The
        // weight counts characters, of which a byte holds as little as a third.
        if (page.length === PAGE_EVENTS || weight >= PAGE_BYTES / 4) pause = 0;
      } catch (error) {
        if (failures === 0) this.#logger.warn({ err: error }, 'cannot read new events: trying until it works');
        this.#failing = true;
        pause = Math.min(LONGEST_ERROR_DELAY_MS, POLL_UNANNOUNCED_MS * 2 ** failures++);
      }
      polled = !(await this.#signal.wait(pause)) && pause === poll;
    }
  }

  #take(page: StoredEvent[], polled: boolean): number {
    this.#checkHearing(polled);
    return this.#window.take(page, (page.at(-1) as StoredEvent).position);
  }

  /** A connection can die without a word. Events that the poll finds again and again, and no notification announced, tell of it. */
  #checkHearing(polled: boolean): void {
    this.#unannounced = polled && !this.#announced ? this.#unannounced + 1 : 0;
    this.#announced = false;
    if (this.#unannounced < DEAF_AFTER || !this.#listener.connected) return;
    this.#unannounced = 0;
    this.#listener.reconnect();
  }
}
