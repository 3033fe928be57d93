import { type Logger, telemetryOn } from '@countersign/telemetry';
import type { Pool } from 'pg';
import { Appender } from './append/appender.js';
import { observedAppend } from './append/observed-append.js';
import { type Categories, prepare } from './append/request.js';
import { idOf } from './ids.js';
import { type VerifyOptions, verifyEvents } from './integrity/verify.js';
import { EventReader } from './reader.js';
import type { AppendRequest, AppendResult, DomainEvent, EventStore, LoadedStream, ReadAll, StoredEvent, VerifyReport } from './types.js';

export interface PostgresEventStoreOptions {
  /** Connections under the application's role; one of them is kept for appends. */
  pool: Pool;
  /** Which service appends (K18). */
  writer: string;
  /** Category → prefix of its streams' ids. */
  categories: Record<string, string>;
  /** Refuses a body that is not what its type says, by throwing. */
  validate?: (type: string, schemaVersion: number, body: unknown) => void;
  logger?: Logger;
  /** How long an append is tried again while PostgreSQL cannot be reached; 30 s when omitted. */
  patienceMs?: number;
}

/** The event store in PostgreSQL. */
export class PostgresEventStore implements EventStore {
  private readonly appender: Appender;
  private readonly reader: EventReader;
  private readonly categories: Categories;

  constructor(private readonly options: PostgresEventStoreOptions) {
    this.categories = {
      prefixes: options.categories,
      byPrefix: new Map(Object.entries(options.categories).map(([category, prefix]) => [prefix, category])),
    };
    const { pool, writer, logger, patienceMs } = options;
    this.appender = new Appender({ pool, writer, prefixes: options.categories, logger, patienceMs });
    this.reader = new EventReader(options.pool, options.categories);
  }

  async append<E extends DomainEvent>(request: AppendRequest<E>): Promise<AppendResult> {
    if (!telemetryOn()) return this.appender.append(prepare(request, this.categories, this.options.validate));
    return observedAppend(this.options.writer, request, (observed, span) =>
      this.appender.append(prepare(observed, this.categories, this.options.validate), span),
    );
  }

  readStream<E extends DomainEvent = DomainEvent>(stream: string, options: { upToVersion?: number } = {}): Promise<LoadedStream<E>> {
    return this.reader.readStream<E>(stream, options.upToVersion);
  }

  readAll(options: ReadAll): Promise<StoredEvent[]> {
    return this.reader.readAll(options);
  }

  async head(): Promise<{ position: number; now: string }> {
    const { rows } = await this.options.pool.query<{ position: number; now: Date }>(
      'select position, event_store.now() as now from event_store.head where shard = 0',
    );
    const row = rows[0] as { position: number; now: Date };
    return { position: row.position, now: row.now.toISOString() };
  }

  async reservation(key: string): Promise<string | null> {
    const { rows } = await this.options.pool.query<{ stream: string; category: string }>({
      name: 'event_store.reservation',
      text: 'select stream, category from event_store.reservations where key = $1',
      values: [key],
    });
    const row = rows[0];
    return row ? idOf(this.options.categories[row.category] ?? row.category, row.stream) : null;
  }

  async idempotencyKey(scope: string, key: string): Promise<{ stream: string; version: number; inputHash: string } | null> {
    const { rows } = await this.options.pool.query<{ stream: string; category: string; version: number; input_hash: string }>({
      name: 'event_store.idempotency_key',
      text: 'select stream, category, version, input_hash from event_store.idempotency where scope = $1 and key = $2',
      values: [scope, key],
    });
    const row = rows[0];
    return row
      ? { stream: idOf(this.options.categories[row.category] ?? row.category, row.stream), version: row.version, inputHash: row.input_hash }
      : null;
  }

  verify(options: VerifyOptions = {}): Promise<VerifyReport> {
    return verifyEvents(this.options.pool, this.options.categories, options);
  }

  close(): Promise<void> {
    return this.appender.close();
  }
}
