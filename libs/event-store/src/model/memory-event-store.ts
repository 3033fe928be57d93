import type { AppendRequest, AppendResult, DomainEvent, EventStore, LoadedStream, ReadAll, StoredEvent, VerifyReport } from '../types.js';
import type { MemoryLog } from './memory-log.js';

/** What stands between a process and its database: when a question gets there, and whether its answer comes back. */
export type Reach = <T>(what: string, work: () => T) => Promise<T>;

/** The port over the model. Any number of them, one for each process, share a log. */
export class MemoryEventStore implements EventStore {
  constructor(
    private readonly log: MemoryLog,
    private readonly reach: Reach = async (_, work) => work(),
  ) {}

  append<E extends DomainEvent>(request: AppendRequest<E>): Promise<AppendResult> {
    return this.reach('append', () => this.log.append(request));
  }

  readStream<E extends DomainEvent = DomainEvent>(stream: string, options: { upToVersion?: number } = {}): Promise<LoadedStream<E>> {
    return this.reach('readStream', () => this.log.readStream<E>(stream, options.upToVersion));
  }

  readAll(options: ReadAll): Promise<StoredEvent[]> {
    return this.reach('readAll', () => this.log.readAll(options));
  }

  head(): Promise<{ position: number; now: string }> {
    return this.reach('head', () => this.log.head());
  }

  reservation(key: string): Promise<string | null> {
    return this.reach('reservation', () => this.log.reservation(key));
  }

  idempotencyKey(scope: string, key: string): Promise<{ stream: string; version: number; inputHash: string } | null> {
    return this.reach('idempotencyKey', () => this.log.idempotencyKey(scope, key));
  }

  /** @throws {Error} always: the model keeps no hashes. */
  verify(): Promise<VerifyReport> {
    return Promise.reject(new Error('The model of the event store keeps no hashes.'));
  }

  async close(): Promise<void> {}
}
