/**
 * Publishes a shard's committed events to Kafka, in the order of their positions. Every process that appends carries a relay; a lease in
 * the database lets one of them run.
 *
 * R1 A page is published when the brokers have acknowledged all of it; only then does the relay's position move, and the next page begins.
 * R2 A position is written under the epoch of the lease. A relay that lost its lease stops there; what it sent twice, consumers know.
 *    Only a change of epoch moves a position without publishing.
 * R3 A relay that cannot publish gives its lease back, so that a process that can reach the brokers takes over.
 */
import type { Logger, TraceContext } from '@countersign/telemetry';
import { type Kafka, type Message, Partitioners, type Producer, type TopicMessages } from 'kafkajs';
import type { Pool } from 'pg';
import { Signal } from '../feed/signal.js';
import { faultOf } from './connection/refusal.js';
import { pagesTopic, topicOf } from './connection/topics.js';
import { encodeEvent, encodePageEnd, type PageEnd } from './message.js';
import { observedSend } from './observed-send.js';
import { type ReadEvent, readRelayed } from './relayed.js';

export const RELAY_LEASE_MS = 5_000;
const BEAT_MS = 1_500;
const POLL_MS = 1_000;
const PAGE_EVENTS = 500;
/** A broker takes a batch of 1 MB for a partition unless told otherwise; headers come on top. */
const PAGE_BYTES = 600_000;
/** Who takes over a relay that is this many events behind begins at the head: consumers read what lies before from the store. */
const REACH = 20_000;
const FAILURES_BEFORE_HANDOVER = 3;
const LONGEST_RETRY_MS = 5_000;

export interface RelayOptions {
  kafka: Kafka;
  prefix: string;
  pool: Pool;
  /** Category of a stream → prefix of its id. */
  prefixes: Readonly<Record<string, string>>;
  /** Names this process (`Leases.member`), and the session of the connection that listens. */
  member: string;
  session: () => number | null;
  buckets: number;
  logger: Logger;
}

interface Held {
  epoch: number;
  position: number;
}

const SHARD = 0;

export class Relay {
  readonly #options: RelayOptions;
  readonly #producer: Producer;
  readonly #signal = new Signal();
  #held: Held | null = null;
  #connected = false;
  #failures = 0;
  #notBefore = 0;
  #closed = false;
  #beating: NodeJS.Timeout | undefined;
  #running: Promise<void> = Promise.resolve();

  constructor(options: RelayOptions) {
    this.#options = options;
    this.#producer = options.kafka.producer({
      allowAutoTopicCreation: false,
      // Every message names its partition.
      createPartitioner: Partitioners.DefaultPartitioner,
      retry: { retries: 2 },
    });
  }

  start(): void {
    this.#running = this.#run();
    void this.#beat();
  }

  /** Something was appended. */
  announce(): void {
    this.#signal.notify();
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#beating);
    this.#signal.notify();
    await this.#running;
    await this.#giveBack();
    await this.#producer.disconnect().catch(() => {});
  }

  async #beat(): Promise<void> {
    const { pool, member, session, logger } = this.#options;
    try {
      if (performance.now() >= this.#notBefore) {
        const { rows } = await pool.query<Held>({
          name: 'event_bus.hold_relay',
          text: `select epoch, position from event_bus.hold_relay($1::smallint, $2, $3, $4 * interval '1 millisecond', $5)`,
          values: [SHARD, member, session(), RELAY_LEASE_MS, REACH],
        });
        const [held] = rows;
        if (held?.epoch !== this.#held?.epoch) {
          if (held) logger.info({ shard: SHARD, ...held }, 'this process publishes events to Kafka now');
          this.#held = held ?? null;
          this.#signal.notify();
        }
      }
    } catch (error) {
      logger.warn({ err: error }, 'the relay’s lease cannot be extended: another process may take over');
    }
    if (!this.#closed) this.#beating = setTimeout(() => void this.#beat(), BEAT_MS);
  }

  async #run(): Promise<void> {
    while (!this.#closed) {
      const held = this.#held;
      try {
        if (held === null) await this.#signal.wait(POLL_MS);
        else if (!(await this.#publish(held))) {
          // Nothing new for a second: say so, for consumers that came after the last page.
          if (!(await this.#signal.wait(POLL_MS)) && this.#held === held) await this.#send([], held, held.position);
        }
        this.#failures = 0;
      } catch (error) {
        await this.#failed(error);
      }
    }
  }

  /** One page; false when there is nothing to publish. */
  async #publish(held: Held): Promise<boolean> {
    const events = await readRelayed(this.#options.pool, this.#options.prefixes, {
      shard: SHARD,
      after: held.position,
      limit: PAGE_EVENTS,
      maxBytes: PAGE_BYTES,
    });
    const last = events.at(-1);
    if (last === undefined) return false;
    await this.#send(events, held, last.position);
    const { rowCount } = await this.#options.pool.query({
      name: 'event_bus.relayed',
      text: 'update event_bus.relays set position = $1 where shard = $2 and owner = $3 and epoch = $4',
      values: [last.position, SHARD, this.#options.member, held.epoch],
    });
    if (rowCount === 0) {
      this.#options.logger.info({ shard: SHARD, epoch: held.epoch }, 'the relay has gone to another process');
      if (this.#held === held) this.#held = null;
      return true;
    }
    held.position = last.position;
    return true;
  }

  #send(events: readonly ReadEvent[], held: Held, to: number): Promise<void> {
    const topic = (category: string) => topicOf(this.#options.prefix, category);
    return observedSend(events, topic, (hopOf) => this.#sendPage(events, held, to, hopOf));
  }

  async #sendPage(
    events: readonly ReadEvent[],
    held: Held,
    to: number,
    hopOf: (event: ReadEvent) => TraceContext | undefined,
  ): Promise<void> {
    const { prefix, buckets } = this.#options;
    const page = events.length === 0 ? `${held.epoch}-idle-${to}` : `${held.epoch}-${held.position}-${to}`;
    const counts: PageEnd['counts'] = {};
    const topics = new Map<string, Message[]>();
    for (const event of events) {
      counts[event.category] ??= Array.from({ length: buckets }, () => 0);
      const ofCategory = counts[event.category] as number[];
      ofCategory[event.bucket] = (ofCategory[event.bucket] ?? 0) + 1;
      const topic = topicOf(prefix, event.category);
      const messages = topics.get(topic) ?? [];
      messages.push(encodeEvent(event, page, hopOf(event)));
      topics.set(topic, messages);
    }
    const topicMessages: TopicMessages[] = [...topics].map(([topic, messages]) => ({ topic, messages }));
    topicMessages.push({ topic: pagesTopic(prefix), messages: [encodePageEnd({ page, from: held.position, to, counts })] });
    if (!this.#connected) await this.#producer.connect();
    this.#connected = true;
    await this.#producer.sendBatch({ topicMessages, acks: -1 });
  }

  async #failed(error: unknown): Promise<void> {
    this.#failures++;
    const delay = Math.min(LONGEST_RETRY_MS, 100 * 2 ** this.#failures);
    this.#options.logger.warn(
      { ...faultOf(error), attempt: this.#failures, delayMs: delay },
      'events cannot be published to Kafka: trying until it works',
    );
    if (this.#failures >= FAILURES_BEFORE_HANDOVER) {
      await this.#giveBack().catch(() => {});
      this.#notBefore = performance.now() + delay;
    }
    const until = performance.now() + delay;
    for (let left = delay; left > 0 && !this.#closed; left = until - performance.now()) await this.#signal.wait(left);
  }

  async #giveBack(): Promise<void> {
    const held = this.#held;
    this.#held = null;
    if (held === null) return;
    await this.#options.pool.query('update event_bus.relays set owner = null where shard = $1 and owner = $2 and epoch = $3', [
      SHARD,
      this.#options.member,
      held.epoch,
    ]);
  }
}
