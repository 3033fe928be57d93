/**
 * What every adapter of the event bus does the same way: groups with their cursors, leases and parked keys in the database, handlers in the
 * transaction that moves a cursor. An adapter is the feed it learns of new events from.
 *
 * S1 Twelve buckets a group, each worked by one member at a time (leases.ts, consumer.ts).
 * S2 A handler runs in the transaction that moves the cursor (delivery.ts); poison and unknown types park their key (parking.ts, release.ts).
 *
 * `pool` serves heartbeats, reads and one transaction for each group at a time; a handler that asks it for another connection while it
 * holds its own needs a pool larger than twice the number of groups.
 */
import type { EventStore, StoredEvent } from '@countersign/event-store';
import { type Logger, observe, type Report } from '@countersign/telemetry';
import type { Pool } from 'pg';
import type { Feed } from './feed/feed.js';
import { Listener } from './feed/listener.js';
import { Signal } from './feed/signal.js';
import { Tail } from './feed/tail.js';
import { Consumer } from './groups/consumer.js';
import { groupLag, groupReached, snapshot } from './groups/lag.js';
import { Leases } from './groups/leases.js';
import { listParked, releaseState, requestRelease } from './groups/parking.js';
import type { BusHealth, BusSnapshot, EventBus, Lag, ParkedKey, Subscription } from './port.js';

/** Buckets of a group (K11), as `event_store.bucket_of` numbers them. */
export const BUCKETS = 12;

const DRAIN_MS = 10_000;
const FIRST_POLL_MS = 15;
const LONGEST_POLL_MS = 100;
const RELEASE_POLL_MS = 50;

export interface EventBusOptions {
  /** Connections under the application's role. */
  pool: Pool;
  store: Pick<EventStore, 'readAll' | 'readStream' | 'head'>;
  /** For the one connection that listens; direct to the server. */
  connectionString: string;
  logger: Logger;
  /** How long `close` waits for a handler before it is fenced off; 10 s when omitted. */
  drainMs?: number;
}

/** How an adapter learns of new events; made once the bus has its listening connection and its name among the members. */
export type FeedMaker = (parts: { listener: Listener; member: string }) => Feed;

export class DurableEventBus implements EventBus {
  readonly #options: EventBusOptions;
  readonly #pool: Pool;
  readonly #listener: Listener;
  readonly #feed: Feed;
  readonly #leases: Leases;
  readonly #consumers = new Map<string, Consumer>();
  readonly #tails = new Set<Tail>();
  readonly #appendListeners = new Set<() => void>();
  readonly #unobserve: () => void;
  #started: Promise<void> | null = null;
  #closed: Promise<void> | null = null;

  constructor(options: EventBusOptions, makeFeed: FeedMaker) {
    const { pool, connectionString, logger } = options;
    this.#options = options;
    this.#pool = pool;
    this.#listener = new Listener({
      connectionString,
      logger,
      channels: ['event_store', 'event_bus'],
      onNotify: (channel) => this.#notified(channel),
    });
    this.#leases = new Leases({ pool, session: () => this.#listener.session, logger });
    this.#feed = makeFeed({ listener: this.#listener, member: this.#leases.member });
    this.#unobserve = observe(['consumerLag', 'consumerLagAge', 'parked', 'busHealthy'], (report) => this.#report(report));
  }

  async subscribe(subscription: Subscription): Promise<{ close(): Promise<void> }> {
    const { group, categories, handles, leaves } = subscription;
    const twice = handles.find((type) => leaves.includes(type));
    if (twice) throw new Error(`${group} both handles and leaves ${twice}; it must say one of them.`);
    if (this.#consumers.has(group)) throw new Error(`${group} is subscribed in this process already; a group has one handler.`);
    await this.#start();
    const { pool, store, logger } = this.#options;
    const consumer = new Consumer({ subscription, pool, store, feed: this.#feed, leases: this.#leases, logger });
    this.#consumers.set(group, consumer);
    try {
      await this.#createGroup(group, categories, subscription.startAt ?? 'beginning');
      await consumer.start();
    } catch (error) {
      this.#consumers.delete(group);
      throw error;
    }
    let closed: Promise<void> | null = null;
    const close = () => {
      closed ??= consumer.close(this.#options.drainMs ?? DRAIN_MS).finally(() => this.#consumers.delete(group));
      return closed;
    };
    return { close };
  }

  async tail(options: {
    from: number | 'now';
    categories: string[];
    onEvents(events: StoredEvent[]): void;
  }): Promise<{ close(): Promise<void> }> {
    await this.#start();
    const { store, logger } = this.#options;
    const from = options.from === 'now' ? (await store.head()).position : options.from;
    const tail = new Tail({ feed: this.#feed, store, logger }, { ...options, from });
    this.#tails.add(tail);
    return {
      close: async () => {
        this.#tails.delete(tail);
        tail.close();
      },
    };
  }

  async pause(group: string): Promise<void> {
    await this.#change(group, 'select event_bus.set_paused($1, true) as found', [group]);
  }

  async resume(group: string): Promise<void> {
    await this.#change(group, 'select event_bus.set_paused($1, false) as found', [group]);
  }

  async seek(group: string, position: number): Promise<void> {
    const head = await this.#options.store.head();
    await this.#change(group, 'select event_bus.seek($1, $2) as found', [group, Math.max(0, Math.min(position, head.position))]);
  }

  async lag(group: string): Promise<Lag> {
    return (await groupLag(this.#pool, group)) ?? missing(group);
  }

  snapshot(): Promise<BusSnapshot> {
    return snapshot(this.#pool);
  }

  async caughtUp(group: string, position: number, bucket: number | 'all', timeoutMs: number): Promise<boolean> {
    const deadline = performance.now() + timeoutMs;
    const signal = new Signal();
    const consumer = this.#consumers.get(group);
    const forget = consumer?.onProgress(() => signal.notify());
    if (this.#feed.position < position) this.#feed.wake();
    try {
      for (let poll = FIRST_POLL_MS; ; poll = Math.min(LONGEST_POLL_MS, poll * 2)) {
        const here = consumer?.reached(position, bucket, BUCKETS) ?? null;
        if (here ?? (await groupReached(this.#pool, group, position, bucket))) return true;
        const left = deadline - performance.now();
        if (left <= 0) return false;
        await signal.wait(Math.min(left, here === null ? poll : LONGEST_POLL_MS));
      }
    } finally {
      forget?.();
    }
  }

  async parked(group?: string): Promise<ParkedKey[]> {
    return listParked(this.#pool, group);
  }

  async unpark(group: string, stream: string): Promise<{ replayed: number; waiting: number }> {
    if (!(await requestRelease(this.#pool, group, stream))) throw new Error(`${stream} is not parked in ${group}.`);
    await this.#leases.beat();
    for (;;) {
      const state = await releaseState(this.#pool, group, stream);
      if (!state) throw new Error(`${stream} is not parked in ${group}.`);
      if (state.released) return { replayed: state.replayed, waiting: 0 };
      if (!state.requested || !state.served) return { replayed: state.replayed, waiting: state.waiting };
      await new Promise((resolve) => setTimeout(resolve, RELEASE_POLL_MS));
    }
  }

  onAppend(listener: () => void): () => void {
    this.#appendListeners.add(listener);
    void this.#start().catch((error) => this.#options.logger.warn({ err: error }, 'cannot start the event feed yet'));
    return () => this.#appendListeners.delete(listener);
  }

  health(): BusHealth {
    return this.#feed.health();
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#unobserve();
    await this.#started?.catch(() => {});
    for (const tail of this.#tails) tail.close();
    this.#tails.clear();
    this.#appendListeners.clear();
    await Promise.all([...this.#consumers.values()].map((consumer) => consumer.close(this.#options.drainMs ?? DRAIN_MS)));
    this.#consumers.clear();
    await this.#listener.close();
    await this.#feed.close();
    if (this.#started) await this.#leases.close();
  }

  #start(): Promise<void> {
    if (this.#closed) return Promise.reject(new Error('The event bus is closed.'));
    this.#started ??= (async () => {
      await this.#listener.start();
      await this.#feed.start();
    })().catch((error) => {
      this.#started = null;
      throw error;
    });
    return this.#started;
  }

  async #createGroup(group: string, categories: string[], startAt: 'beginning' | 'now'): Promise<void> {
    const position = startAt === 'now' ? (await this.#options.store.head()).position : 0;
    await this.#pool.query(
      `with known as (
         insert into event_bus.groups (name, categories) values ($1, $2)
         on conflict (name) do update set categories = excluded.categories where groups.categories <> excluded.categories returning name)
       select count(*) from known`,
      [group, categories],
    );
    await this.#pool.query(
      `insert into event_bus.cursors (group_name, bucket, position) select $1, generate_series(0, $2::int - 1), $3 on conflict do nothing`,
      [group, BUCKETS, position],
    );
  }

  /** A command to a whole group: here at once, in other processes with the notification it sends. */
  async #change(group: string, text: string, values: unknown[]): Promise<void> {
    const { rows } = await this.#pool.query<{ found: boolean }>(text, values);
    if (!rows[0]?.found) missing(group);
    await this.#leases.beat();
  }

  async #report(report: Report<'consumerLag' | 'consumerLagAge' | 'parked' | 'busHealthy'>): Promise<void> {
    if (this.#started === null) return;
    report('busHealthy', this.health().ok ? 1 : 0, {});
    for (const group of this.#consumers.keys()) {
      const lag = await groupLag(this.#pool, group);
      if (lag === null) continue;
      const attributes = { 'countersign.group': group };
      report('consumerLag', lag.events, attributes);
      report('consumerLagAge', lag.ageMs / 1_000, attributes);
      report('parked', lag.parked, attributes);
    }
  }

  #notified(channel: string): void {
    if (channel === 'event_bus') {
      void this.#leases.beat();
      return;
    }
    this.#feed.announce();
    for (const listener of this.#appendListeners) listener();
  }
}

function missing(group: string): never {
  throw new Error(`There is no group ${group}.`);
}
