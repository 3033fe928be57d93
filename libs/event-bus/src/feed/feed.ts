/** Where consumers and tails learn of new events, and get those near the head without asking the database. */
import type { StoredEvent } from '@countersign/event-store';
import type { BusHealth } from '../port.js';

/** Follows a feed: told when it moved; `position` is how far the reader is, so that what everybody has passed can be dropped. */
export interface FeedReader {
  readonly position: number;
  advanced(): void;
}

export interface Feed {
  /** Every event up to here is committed, and known here or in the store. */
  readonly position: number;
  start(): Promise<void>;
  /** A notification came: the store has something new. */
  announce(): void;
  /** Looks without waiting, where looking is what the feed does. */
  wake(): void;
  /** @param categories whose events the reader wants. */
  follow(reader: FeedReader, categories: readonly string[]): () => void;
  /** Held events after a position, at most `limit`, or null when the feed does not reach back that far: then the store has them. */
  after(position: number, limit: number): StoredEvent[] | null;
  health(): BusHealth;
  close(): Promise<void>;
}
