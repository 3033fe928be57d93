/**
 * The bus of many processes: a relay publishes what is committed to Kafka, and consumers everywhere receive it from there (relay.ts,
 * kafka-feed.ts).
 */
import type { EventStore } from '@countersign/event-store';
import { type Logger, observe, type Report } from '@countersign/telemetry';
import type { Pool } from 'pg';
import { BUCKETS, DurableEventBus, type EventBusOptions } from '../durable-event-bus.js';
import type { Feed, FeedReader } from '../feed/feed.js';
import type { Listener } from '../feed/listener.js';
import { relayState } from '../groups/lag.js';
import type { BusHealth } from '../port.js';
import { createKafka, type KafkaSettings } from './connection/client.js';
import { faultOf, KafkaRefusedError, refusalOf, suspicionOf } from './connection/refusal.js';
import { ensureTopics } from './connection/topics.js';
import { KafkaFeed } from './kafka-feed.js';
import { Relay } from './relay.js';

const LONGEST_RETRY_MS = 5_000;
/** So many that a broker's restart is no explanation; each is several of the client's. */
const SUSPICIOUS_TRIES = 2;

export interface KafkaEventBusOptions extends EventBusOptions {
  kafka: KafkaSettings;
  /** Topics are `<prefix>.<category>.v1` and `<prefix>.pages.v1`. */
  topicPrefix: string;
  /** Every category the relay publishes, with the prefix of its streams' ids. */
  prefixes: Readonly<Record<string, string>>;
  /** Brokers that keep each message of topics made here; -1 leaves it to the cluster. */
  replication: number;
}

export class KafkaEventBus extends DurableEventBus {
  constructor(options: KafkaEventBusOptions) {
    super(options, ({ listener, member }) => new RelayedFeed(options, listener, member));
  }
}

/**
 * The feed from Kafka, and this process's part in filling it. Brokers that are away as it starts are waited for behind its back: the store
 * takes appends without them (K20).
 */
class RelayedFeed implements Feed {
  readonly #feed: KafkaFeed;
  readonly #relay: Relay;
  readonly #logger: Logger;
  readonly #settings: KafkaSettings;
  readonly #ensure: () => Promise<void>;
  readonly #unobserve: () => void;
  #missing: string | null = null;
  #retry: NodeJS.Timeout | undefined;
  #trying: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(
    { kafka: settings, topicPrefix: prefix, prefixes, replication, pool, store, logger }: KafkaEventBusOptions,
    listener: Listener,
    member: string,
  ) {
    const kafka = createKafka(settings, logger);
    this.#logger = logger;
    this.#settings = settings;
    this.#feed = new KafkaFeed({ kafka, prefix, store: store as Pick<EventStore, 'readAll' | 'head'>, logger });
    this.#relay = new Relay({ kafka, prefix, prefixes, pool, member, session: () => listener.session, buckets: BUCKETS, logger });
    this.#unobserve = observe(['relayPosition', 'relayBehind'], (report) => reportRelay(pool, report));
    this.#ensure = async () => {
      try {
        await ensureTopics(kafka, { prefix, categories: Object.keys(prefixes), partitions: BUCKETS, replication });
      } catch (error) {
        throw refusalOf(error, settings);
      }
    };
  }

  get position() {
    return this.#feed.position;
  }

  /** @throws {KafkaRefusedError} */
  async start(): Promise<void> {
    await this.#feed.start();
    const error = await this.#begin();
    if (error instanceof KafkaRefusedError) throw error;
    if (error !== null) this.#beginLater(error, 1);
  }

  announce(): void {
    this.#relay.announce();
  }

  wake(): void {}

  follow(reader: FeedReader, categories: readonly string[]): () => void {
    return this.#feed.follow(reader, categories);
  }

  after(position: number, limit: number) {
    return this.#feed.after(position, limit);
  }

  health(): BusHealth {
    return this.#missing === null ? this.#feed.health() : { ok: false, detail: this.#missing };
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#unobserve();
    clearTimeout(this.#retry);
    await this.#trying;
    await this.#relay.close();
    await this.#feed.close();
  }

  /** @returns what kept it from beginning. */
  async #begin(): Promise<unknown> {
    try {
      await this.#ensure();
    } catch (error) {
      return error;
    }
    this.#missing = null;
    if (!this.#closed) this.#relay.start();
    return null;
  }

  #beginLater(error: unknown, attempt: number): void {
    this.#missing = error instanceof KafkaRefusedError ? 'Kafka cannot be used; the log says why.' : 'Kafka cannot be reached.';
    if (this.#closed) return;
    const delayMs = Math.min(LONGEST_RETRY_MS, 250 * 2 ** attempt);
    const suspicion = attempt === SUSPICIOUS_TRIES ? suspicionOf(error, this.#settings) : null;
    if (suspicion !== null) this.#logger.warn(suspicion);
    this.#logger.error({ ...faultOf(error), delayMs }, 'events are neither published nor received: trying until Kafka can be used');
    this.#retry = setTimeout(() => {
      this.#trying = this.#begin().then((again) => {
        if (again !== null) this.#beginLater(again, attempt + 1);
      });
    }, delayMs);
  }
}

/** Also while the relay stands still, when no delay of an event is measured. A database served in one process may have a relay of former days: nobody tells of that. */
async function reportRelay(pool: Pool, report: Report<'relayPosition' | 'relayBehind'>): Promise<void> {
  const relay = await relayState(pool);
  if (relay === null) return;
  report('relayPosition', relay.position, {});
  report('relayBehind', relay.behind, {});
}
