/**
 * The feed of many processes: new events come from Kafka, in the pages of the relay. One consumer serves all groups and tails of a process.
 *
 * F1 The store is the truth and Kafka carries it: a page that does not become whole (published before this process listened, past the
 *    topic's retention, lost) is given up after `PATIENCE_MS`, and readers find its events in the store; so is one that contradicts it.
 * F2 Cursors are in the database. The process reads Kafka in a group of its own from the newest message on, and commits no offset.
 * F3 While Kafka is away nothing moves, nothing is lost, and consumers go on where they were.
 */
import { randomUUID } from 'node:crypto';
import type { EventStore, StoredEvent } from '@countersign/event-store';
import type { Logger } from '@countersign/telemetry';
import type { Consumer, EachBatchPayload, Kafka } from 'kafkajs';
import type { Feed, FeedReader } from '../feed/feed.js';
import { observePage } from '../feed/observed-page.js';
import { EventWindow } from '../feed/window.js';
import type { BusHealth } from '../port.js';
import { faultOf, isPassing } from './connection/refusal.js';
import { pagesTopic, topicOf } from './connection/topics.js';
import { decodeEvent, decodePageEnd, hopOf, type PageEnd } from './message.js';
import { Pages, type WholePage } from './pages.js';
import { fetchReferences, StrangeMessageError } from './references.js';

const PATIENCE_MS = 150;
/** Subscriptions that come one after another as a process starts are one change. */
const SETTLE_MS = 30;
const SESSION_MS = 10_000;
/** A message ends the wait at once; without one it is asked again, which costs an idle process most of what it does. */
const FETCH_WAIT_MS = 1_000;
const LONGEST_RETRY_MS = 5_000;
/** Brokers that have just started answer for some seconds that they are not there yet: no more of these are taken for it. */
const PASSING_TRIES = 5;
/** The relay speaks every second; this long without a word is no coincidence. */
const SILENT_MS = 5_000;

export interface KafkaFeedOptions {
  kafka: Kafka;
  prefix: string;
  store: Pick<EventStore, 'readAll' | 'head'>;
  logger: Logger;
}

export class KafkaFeed implements Feed {
  readonly #options: KafkaFeedOptions;
  readonly #window = new EventWindow();
  readonly #pages: Pages;
  readonly #wanted = new Map<string, number>();
  /** Topics of the running consumer → category. */
  #listening = new Map<string, string>();
  #consumer: Consumer | null = null;
  #changing: Promise<void> = Promise.resolve();
  #settle: NodeJS.Timeout | undefined;
  #patience: NodeJS.Timeout | undefined;
  #applying: Promise<void> = Promise.resolve();
  #waitingAt = 0;
  #heardAt = performance.now();
  #failures = 0;
  #closed = false;

  constructor(options: KafkaFeedOptions) {
    this.#options = options;
    this.#pages = new Pages((end) => this.#counted(end));
  }

  get position(): number {
    return this.#window.position;
  }

  async start(): Promise<void> {
    const { position } = await this.#options.store.head();
    this.#pages.skipTo(position);
    this.#window.jump(position);
  }

  announce(): void {}

  wake(): void {}

  follow(reader: FeedReader, categories: readonly string[]): () => void {
    const forget = this.#window.follow(reader);
    for (const category of categories) this.#wanted.set(category, (this.#wanted.get(category) ?? 0) + 1);
    this.#resubscribe(SETTLE_MS);
    return () => {
      forget();
      for (const category of categories) this.#wanted.set(category, (this.#wanted.get(category) ?? 0) - 1);
    };
  }

  after(position: number, limit: number): StoredEvent[] | null {
    return this.#window.after(position, limit);
  }

  health(): BusHealth {
    const silent = performance.now() - this.#heardAt;
    return this.#wanted.size === 0 || silent < SILENT_MS
      ? { ok: true }
      : { ok: false, detail: `Nothing was heard from Kafka for ${Math.round(silent / 1_000)} s.` };
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#settle);
    clearTimeout(this.#patience);
    await this.#changing;
    await this.#disconnect();
    await this.#applying;
    this.#window.close();
  }

  /** A category nobody here has asked for yet needs another topic, and a consumer can only be given its topics before it runs. */
  #resubscribe(delay: number): void {
    clearTimeout(this.#settle);
    if (this.#closed) return;
    this.#settle = setTimeout(() => {
      this.#changing = this.#changing.then(() => this.#listen()).catch((error) => this.#failed(error));
    }, delay);
  }

  async #listen(): Promise<void> {
    const categories = [...this.#wanted].filter(([, readers]) => readers > 0).map(([category]) => category);
    if (this.#closed || (this.#consumer && categories.every((category) => this.#categoryListened(category)))) return;
    const { kafka, prefix } = this.#options;
    await this.#disconnect();
    this.#pages.clear();
    // What is held lacks the events of the new categories.
    this.#window.jump(this.#window.position);
    this.#listening = new Map(categories.map((category) => [topicOf(prefix, category), category]));
    const consumer = kafka.consumer({
      groupId: `${prefix}.feed.${randomUUID()}`,
      sessionTimeout: SESSION_MS,
      heartbeatInterval: 1_000,
      maxWaitTimeInMs: FETCH_WAIT_MS,
      allowAutoTopicCreation: false,
      retry: { restartOnFailure: async () => false },
    });
    this.#consumer = consumer;
    consumer.on(consumer.events.CRASH, ({ payload }) => void this.#failed(payload.error, consumer));
    await consumer.connect();
    await consumer.subscribe({ topics: [...this.#listening.keys(), pagesTopic(prefix)], fromBeginning: false });
    await consumer.run({ autoCommit: false, eachBatchAutoResolve: false, eachBatch: async (payload) => this.#received(payload) });
    this.#failures = 0;
  }

  #categoryListened(category: string): boolean {
    return this.#listening.has(topicOf(this.#options.prefix, category));
  }

  async #failed(error: unknown, consumer?: Consumer): Promise<void> {
    if (this.#closed || (consumer && consumer !== this.#consumer)) return;
    const delay = Math.min(LONGEST_RETRY_MS, 250 * 2 ** this.#failures++);
    const level = isPassing(error) && this.#failures <= PASSING_TRIES ? 'info' : 'warn';
    this.#options.logger[level]({ ...faultOf(error), delayMs: delay }, 'events cannot be received from Kafka: trying until it works');
    await this.#disconnect();
    this.#resubscribe(delay);
  }

  async #disconnect(): Promise<void> {
    const consumer = this.#consumer;
    this.#consumer = null;
    await consumer?.disconnect().catch(() => {});
  }

  async #received({ batch, resolveOffset, heartbeat, isStale }: EachBatchPayload): Promise<void> {
    const category = this.#listening.get(batch.topic);
    this.#heardAt = performance.now();
    const began = Date.now();
    for (const message of batch.messages) {
      if (isStale()) return;
      try {
        if (category === undefined) this.#pages.end(decodePageEnd(message.value as Buffer));
        else this.#pages.event(decodeEvent(message, batch.partition));
      } catch (error) {
        this.#options.logger.error(
          { err: error, topic: batch.topic, offset: message.offset },
          'a message that is none of the relay’s is left out',
        );
      }
      resolveOffset(message.offset);
    }
    if (category !== undefined) observePage(batch.topic, began, batch.messages.map(hopOf));
    this.#apply();
    await heartbeat();
  }

  #counted({ counts }: PageEnd): number {
    let count = 0;
    for (const category of this.#listening.values()) for (const messages of counts[category] ?? []) count += messages;
    return count;
  }

  #apply(): void {
    this.#applying = this.#applying.then(async () => {
      for (let page = this.#pages.next(); page !== null && !this.#closed; page = this.#pages.next()) await this.#take(page);
      this.#window.trim();
    });
    this.#wait();
  }

  /** Patience runs from when the position stopped moving, however many pages arrive meanwhile. */
  #wait(): void {
    const { position, giveUpAt } = this.#pages;
    if (this.#patience && giveUpAt !== null && this.#waitingAt === position) return;
    clearTimeout(this.#patience);
    this.#waitingAt = position;
    this.#patience = giveUpAt === null ? undefined : setTimeout(() => this.#giveUp(), PATIENCE_MS);
  }

  /** F1. */
  #giveUp(): void {
    this.#patience = undefined;
    this.#applying = this.#applying.then(() => {
      const position = this.#pages.giveUpAt;
      if (position === null || this.#closed) return;
      this.#options.logger.debug({ position }, 'a page is not complete in Kafka: its events are read from the store');
      this.#pages.skipTo(position);
      this.#window.jump(position);
    });
    this.#apply();
  }

  async #take({ events, to }: WholePage): Promise<void> {
    try {
      this.#window.take(await fetchReferences(this.#options.store, events), to);
    } catch (error) {
      const { logger } = this.#options;
      if (error instanceof StrangeMessageError) {
        logger.error({ err: error }, 'a message contradicts the store: its page is left out, and consumers read the store');
      } else logger.warn({ err: error }, 'events that Kafka only refers to cannot be read yet: consumers read the store');
      this.#window.jump(to);
    }
  }
}
