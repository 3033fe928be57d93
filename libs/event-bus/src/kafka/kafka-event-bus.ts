/**
 * The bus of many processes: a relay publishes what is committed to Kafka, and consumers everywhere receive it from there (relay.ts,
 * kafka-feed.ts).
 */
import type { EventStore } from '@countersign/event-store';
import { BUCKETS, DurableEventBus, type EventBusOptions } from '../durable-event-bus.js';
import type { Feed, FeedReader } from '../feed/feed.js';
import type { Listener } from '../feed/listener.js';
import { createKafka, type KafkaSettings } from './connection/client.js';
import { KafkaFeed } from './kafka-feed.js';
import { Relay } from './relay.js';
import { ensureTopics } from './connection/topics.js';

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

/** The feed from Kafka, and this process's part in filling it. */
class RelayedFeed implements Feed {
  readonly #feed: KafkaFeed;
  readonly #relay: Relay;
  readonly #ensure: () => Promise<void>;

  constructor(
    { kafka: settings, topicPrefix: prefix, prefixes, replication, pool, store, logger }: KafkaEventBusOptions,
    listener: Listener,
    member: string,
  ) {
    const kafka = createKafka(settings, logger);
    this.#feed = new KafkaFeed({ kafka, prefix, store: store as Pick<EventStore, 'readAll' | 'head'>, logger });
    this.#relay = new Relay({ kafka, prefix, prefixes, pool, member, session: () => listener.session, buckets: BUCKETS, logger });
    this.#ensure = () => ensureTopics(kafka, { prefix, categories: Object.keys(prefixes), partitions: BUCKETS, replication });
  }

  get position() {
    return this.#feed.position;
  }

  async start(): Promise<void> {
    await this.#ensure();
    await this.#feed.start();
    this.#relay.start();
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

  health() {
    return this.#feed.health();
  }

  async close(): Promise<void> {
    await this.#relay.close();
    await this.#feed.close();
  }
}
