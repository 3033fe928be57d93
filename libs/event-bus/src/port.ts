import type { StoredEvent } from '@countersign/event-store';
import type { PoolClient } from 'pg';

/**
 * The event bus (decisions K10–K13). There is no publish: what is appended to the store is published.
 *
 * B1 at least once, the handler's database transaction moves the cursor, so its effects are applied once.
 * B2 ordered per stream; buckets of one group may be worked by different processes.
 * B3 a poison event parks its stream's key: later events of that stream wait behind it, other streams flow.
 * B4 an event type a subscription neither handles nor leaves parks its key until an upgrade.
 * B5 nothing is delivered after `close()` has resolved.
 */
export interface Subscription {
  /** Consumer group: owns cursors; one delivery per group. */
  group: string;
  categories: string[];
  /** Event types given to `onBatch`. */
  handles: string[];
  /** Event types of these categories this group knowingly does not need. */
  leaves: string[];
  /** Where a group that has never run starts; its first event when omitted. Ignored once the group has cursors. */
  startAt?: 'beginning' | 'now';
  /** Most events in a batch; 500 when omitted. */
  batchSize?: number;
  /**
   * Applies a batch in the transaction that moves the cursor. Throw `Retryable` to have the batch tried again with backoff;
   * anything else thrown isolates the event that caused it and parks its key.
   */
  onBatch(events: StoredEvent[], context: BatchContext): Promise<void>;
}

export interface BatchContext {
  tx: PoolClient;
  group: string;
  /** True while a rebuild or seek replays events the group has seen before: reactors must not fire. */
  replay: boolean;
}

/** The handler could not work for a reason that passes: try the same batch again. */
export { Retryable } from '@countersign/database';

export interface Lag {
  group: string;
  /** Events not yet handled, over all buckets. */
  events: number;
  /** Age of the oldest of them in milliseconds of database time; 0 when none. */
  ageMs: number;
  parked: number;
}

/** What publishes to Kafka, as the database knows it. */
export interface RelayState {
  /** Everything up to here was acknowledged by the brokers. */
  position: number;
  /** Committed events after it, and the age of the oldest in milliseconds of database time; 0 when none. */
  behind: number;
  ageMs: number;
  /** Whether a process publishes now. */
  running: boolean;
}

export interface BusSnapshot {
  /** Every group of the database, by name. */
  groups: Lag[];
  /** Null when nothing of this database was ever published to Kafka. */
  relay: RelayState | null;
}

export interface ParkedKey {
  group: string;
  stream: string;
  /** First parked position, and how many events wait. */
  position: number;
  waiting: number;
  reason: string;
  parkedAt: string;
}

export interface BusHealth {
  ok: boolean;
  detail?: string;
}

export interface EventBus {
  subscribe(subscription: Subscription): Promise<{ close(): Promise<void> }>;
  /** Every committed event after a position to this process, with no cursor kept: for streams to clients. `'now'` starts at the head. */
  tail(options: { from: number | 'now'; categories: string[]; onEvents(events: StoredEvent[]): void }): Promise<{ close(): Promise<void> }>;
  pause(group: string): Promise<void>;
  resume(group: string): Promise<void>;
  /**
   * Moves a group's cursors; events up to the old cursor are delivered again with `replay: true`. Parked keys stay parked.
   * @throws {Error} when the group does not exist, as `pause`, `resume` and `lag` do.
   */
  seek(group: string, position: number): Promise<void>;
  lag(group: string): Promise<Lag>;
  /** How far everybody is: the same from any process, and a few cheap queries. */
  snapshot(): Promise<BusSnapshot>;
  /** Resolves when the group has handled (or parked) everything of its categories up to a position of a bucket, or after the time; tells which. */
  caughtUp(group: string, position: number, bucket: number | 'all', timeoutMs: number): Promise<boolean>;
  parked(group?: string): Promise<ParkedKey[]>;
  /**
   * Replays a key's parked events in order, then lets it flow; no later event overtakes them. The member that works the key's bucket does
   * it. `waiting` counts what is still parked: an event failed again, or no member is up and the first to come does it.
   * @throws {Error} when the key is not parked.
   */
  unpark(group: string, stream: string): Promise<{ replayed: number; waiting: number }>;
  /** Calls back whenever something was appended, as far as notifications tell; for those that poll and would like to be woken. */
  onAppend(listener: () => void): () => void;
  /** Whether new events arrive. What is appended while they do not is delivered later; nothing is lost by it (K20). */
  health(): BusHealth;
  /** Lets batches in flight finish, then gives everything back. */
  close(): Promise<void>;
}
