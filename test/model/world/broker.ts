/** Kafka's brokers: topics whose partitions keep their order and nothing else does. Messages come late, twice, or not at all while they are away. */
import type { Owner } from './world.js';

export interface Kept {
  value: Buffer | null;
  headers: Record<string, unknown>;
  offset: string;
}

export class Broker {
  down = false;
  readonly topics = new Map<string, Kept[][]>();
  readonly readers = new Map<{ wake(): void }, Owner>();

  create(topic: string, partitions: number): void {
    if (!this.topics.has(topic))
      this.topics.set(
        topic,
        Array.from({ length: partitions }, () => []),
      );
  }

  keep(topic: string, message: { partition?: number; value: unknown; headers?: Record<string, unknown> }): void {
    const partition = this.topics.get(topic)?.[message.partition ?? 0];
    if (!partition) throw new Error(`There is no partition ${message.partition} of ${topic}.`);
    const value = message.value === null ? null : Buffer.from(message.value as string);
    partition.push({ value, headers: message.headers ?? {}, offset: String(partition.length) });
    for (const reader of this.readers.keys()) reader.wake();
  }

  leave(owner: Owner): void {
    for (const [reader, by] of this.readers) if (by === owner) this.readers.delete(reader);
  }
}
