/** In the place of `kafkajs` for the bus: the part of the client it uses, over the simulation's brokers. */
import type { Broker, Kept } from './broker.js';
import type { Machine } from './machine.js';
import { here } from './outside.js';

export const Partitioners = { DefaultPartitioner: () => () => 0 };
export const logLevel = { WARN: 2 };

interface Batch {
  topic: string;
  partition: number;
  messages: Kept[];
}
type EachBatch = (payload: object) => Promise<void>;

class Unreachable extends Error {
  override readonly name = 'KafkaJSConnectionError';
  readonly retriable = true;
}

/** What the machine that makes the client says to the brokers. */
abstract class Part {
  protected readonly machine = here().current as Machine;
  protected readonly broker = this.machine.broker as Broker;

  protected ask<T>(what: string, work: () => T): Promise<T> {
    return this.machine.reach(`kafka: ${what}`, () => {
      if (this.broker.down) throw new Unreachable('Connection error: the brokers are away.');
      return work();
    });
  }

  async connect(): Promise<void> {}
  async disconnect(): Promise<void> {}
}

class Admin extends Part {
  listTopics(): Promise<string[]> {
    return this.ask('list topics', () => [...this.broker.topics.keys()]);
  }

  createTopics({ topics }: { topics: { topic: string; numPartitions: number }[] }): Promise<void> {
    return this.ask('create topics', () => {
      for (const { topic, numPartitions } of topics) this.broker.create(topic, numPartitions);
    });
  }

  fetchTopicMetadata({ topics }: { topics: string[] }): Promise<object> {
    const of = (name: string) => ({ name, partitions: this.broker.topics.get(name) ?? [] });
    return this.ask('topic metadata', () => ({ topics: topics.map(of) }));
  }
}

class Producer extends Part {
  /** Partitions acknowledge one by one: what breaks off is kept in part. */
  sendBatch({ topicMessages }: { topicMessages: { topic: string; messages: Parameters<Broker['keep']>[1][] }[] }): Promise<void> {
    const all = topicMessages.flatMap(({ topic, messages }) => messages.map((message) => ({ topic, message })));
    return this.ask('send', () => {
      const { chance } = this.machine.world;
      const breaksAt = chance.yes(this.machine.faults.lost) ? chance.int(all.length + 1) : Number.POSITIVE_INFINITY;
      for (const [i, { topic, message }] of all.entries()) {
        if (i === breaksAt) throw new Unreachable('Connection error: the brokers went away.');
        this.broker.keep(topic, message);
      }
    });
  }
}

class Consumer extends Part {
  readonly events = { CRASH: 'crash' };
  readonly #offsets = new Map<string, { topic: string; partition: number; next: number }>();
  #topics: string[] = [];
  #eachBatch: EachBatch | null = null;
  #fetching = false;

  on(): void {}

  subscribe({ topics }: { topics: string[] }): Promise<void> {
    return this.ask('subscribe', () => {
      if (topics.some((topic) => !this.broker.topics.has(topic))) throw new Unreachable('This server does not host this topic-partition.');
      this.#topics = topics;
    });
  }

  /** From the newest message on. */
  run({ eachBatch }: { eachBatch: EachBatch }): Promise<void> {
    return this.ask('join', () => {
      for (const topic of this.#topics) {
        for (const [partition, kept] of (this.broker.topics.get(topic) ?? []).entries())
          this.#offsets.set(`${topic} ${partition}`, { topic, partition, next: kept.length });
      }
      this.#eachBatch = eachBatch;
      this.broker.readers.set(this, this.machine);
    });
  }

  override async disconnect(): Promise<void> {
    this.#eachBatch = null;
    this.broker.readers.delete(this);
  }

  wake(): void {
    if (this.#fetching || this.#eachBatch === null) return;
    this.#fetching = true;
    here().step(this.machine, 'kafka: fetch', () => void this.#deliver());
  }

  /** Some messages of one partition; the others wait. */
  async #deliver(): Promise<void> {
    const { chance } = this.machine.world;
    const behind = [...this.#offsets.values()].filter(({ topic, partition, next }) => this.#kept(topic, partition).length > next);
    const one = behind.length > 0 ? chance.pick(behind) : null;
    if (one && this.#eachBatch) {
      const waiting = this.#kept(one.topic, one.partition).slice(one.next);
      const messages = waiting.slice(0, 1 + chance.int(waiting.length));
      one.next += messages.length;
      const batch: Batch = { topic: one.topic, partition: one.partition, messages };
      const isStale = () => this.#eachBatch === null;
      await this.#eachBatch({ batch, resolveOffset: () => {}, heartbeat: async () => {}, isStale, isRunning: () => !isStale() });
    }
    this.#fetching = false;
    if (one) this.wake();
  }

  #kept(topic: string, partition: number): Kept[] {
    return this.broker.topics.get(topic)?.[partition] ?? [];
  }
}

export class Kafka {
  admin(): Admin {
    return new Admin();
  }

  producer(): Producer {
    return new Producer();
  }

  consumer(): Consumer {
    return new Consumer();
  }
}
