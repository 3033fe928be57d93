/**
 * Broadcast to this process: every committed event after a position, once and in order, with no cursor kept.
 *
 * At the head all tails are served from the feed; one that starts further back reads the store, page by page, until it has caught up.
 * Nothing is queued here: `onEvents` is called with each page and must not wait.
 */
import type { EventStore, StoredEvent } from '@countersign/event-store';
import type { Logger } from '@countersign/telemetry';
import type { Feed, FeedReader } from './feed.js';

const PAGE_EVENTS = 500;
const PAGE_BYTES = 4_000_000;
const RETRY_MS = 500;

export interface TailOptions {
  from: number;
  categories: string[];
  onEvents(events: StoredEvent[]): void;
}

export class Tail implements FeedReader {
  readonly #feed: Feed;
  readonly #store: Pick<EventStore, 'readAll'>;
  readonly #logger: Logger;
  readonly #options: TailOptions;
  readonly #categories: ReadonlySet<string>;
  readonly #unfollow: () => void;
  #position: number;
  #pumping = false;
  #closed = false;
  #retry: NodeJS.Timeout | undefined;

  constructor(parts: { feed: Feed; store: Pick<EventStore, 'readAll'>; logger: Logger }, options: TailOptions) {
    this.#feed = parts.feed;
    this.#store = parts.store;
    this.#logger = parts.logger;
    this.#options = options;
    this.#categories = new Set(options.categories);
    this.#position = options.from;
    this.#unfollow = this.#feed.follow(this, options.categories);
    this.advanced();
  }

  get position(): number {
    return this.#position;
  }

  advanced(): void {
    if (!this.#pumping) void this.#pump();
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#retry);
    this.#unfollow();
  }

  async #pump(): Promise<void> {
    this.#pumping = true;
    try {
      while (!this.#closed && this.#position < this.#feed.position) {
        const head = this.#feed.position;
        const held = this.#feed.after(this.#position, PAGE_EVENTS);
        if (held) this.#pass(held, held.length < PAGE_EVENTS ? head : (held.at(-1) as StoredEvent).position);
        else await this.#catchUp();
      }
    } catch (error) {
      this.#logger.warn({ err: error }, 'cannot read events for a stream: trying again');
      if (!this.#closed) this.#retry = setTimeout(() => this.advanced(), RETRY_MS);
    } finally {
      this.#pumping = false;
    }
  }

  async #catchUp(): Promise<void> {
    const head = this.#feed.position;
    const events = await this.#store.readAll({
      after: this.#position,
      limit: PAGE_EVENTS,
      maxBytes: PAGE_BYTES,
      categories: this.#options.categories,
    });
    this.#pass(events, events.at(-1)?.position ?? head);
  }

  #pass(events: StoredEvent[], upTo: number): void {
    if (this.#closed) return;
    this.#position = upTo;
    const wanted = events.filter((event) => this.#categories.has(event.category));
    if (wanted.length === 0) return;
    try {
      this.#options.onEvents(wanted);
    } catch (error) {
      // A tail keeps no cursor, so there is nothing to hold back for it; the others must not suffer.
      this.#logger.error({ err: error }, 'a reader of the event stream threw');
    }
  }
}
