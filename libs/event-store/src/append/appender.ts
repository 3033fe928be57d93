/**
 * Group commit: what arrives while a batch is in flight is the next batch.
 *
 * G1 At most one batch of this process is in flight. Batches are numbered; PostgreSQL applies each number once and refuses a late one.
 * G2 No two requests of a batch touch the same stream, reservation, timer or idempotency key: the later one waits, and is not overtaken.
 * G3 A batch whose outcome is unknown (the connection broke) is sent again under its number and is answered as the first time.
 * G4 An error that belongs to one request is narrowed down: the batch is halved until that request stands alone.
 * G5 Under load a batch takes half of those who append: PostgreSQL works for one half while this process works for the other.
 */
import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { isConflict, isPassing, Retryable, sqlState } from '@countersign/database';
import { detached, type Logger, type Span } from '@countersign/telemetry';
import pg from 'pg';
import type { AppendResult } from '../types.js';
import { APPEND, type AppendRow, appendParameters, appendResults } from './batch.js';
import { observedBatch } from './observed-append.js';
import type { PreparedRequest } from './request.js';

/** Fewer go together: what a batch costs by itself is more than what this process does for them. */
const LEAST_HALF = 16;

interface Waiting {
  request: PreparedRequest;
  /** Of the append, where it is observed. */
  span?: Span;
  resolve(result: AppendResult): void;
  reject(error: unknown): void;
}

export interface AppenderOptions {
  pool: pg.Pool;
  writer: string;
  prefixes: Record<string, string>;
  logger?: Logger;
  /** Most events and bytes of JSON in a batch; a single request may be larger. */
  maxEvents?: number;
  maxBytes?: number;
  /** Most requests that wait; further ones are refused at once. 10,000 when omitted. */
  maxWaiting?: number;
  /** How long a batch is tried again while PostgreSQL cannot be reached; 30 s when omitted. */
  patienceMs?: number;
  /** How long PostgreSQL may take over one batch before its connection is given up; 15 s when omitted. */
  batchTimeoutMs?: number;
}

/** PostgreSQL could not be reached for long, or refuses to write. The last attempt may have been stored all the same. */
export class EventStoreUnavailableError extends Retryable {
  override readonly name = 'EventStoreUnavailableError';
}

export class Appender {
  private waiting: Waiting[] = [];
  private running: Promise<void> | null = null;
  private client: pg.Client | null = null;
  private closed = false;
  private batch = 0;
  private readonly id = randomUUID();

  constructor(private readonly options: AppenderOptions) {}

  append(request: PreparedRequest, span?: Span): Promise<AppendResult> {
    if (this.closed) return Promise.reject(new Error('The event store is closed.'));
    if (this.waiting.length >= (this.options.maxWaiting ?? 10_000)) {
      return Promise.reject(new EventStoreUnavailableError('The event store is overloaded; nothing was stored. Try again later.'));
    }
    return new Promise((resolve, reject) => {
      this.waiting.push({ request, span, resolve, reject });
      // It serves whoever comes: no part of the trace of the first.
      this.running ??= detached(() => this.run());
    });
  }

  /** Sends what waits, then lets the connection go. */
  async close(): Promise<void> {
    this.closed = true;
    await this.running;
    await this.disconnect();
  }

  /** Sends the next batch before it tells the last one's callers, so that PostgreSQL works while they prepare what comes after. */
  private async run(): Promise<void> {
    let tell = () => {};
    let untold = 0;
    for (;;) {
      if (this.waiting.length === 0) {
        tell();
        tell = () => {};
        untold = 0;
        // Whoever was told may append again in this turn of the event loop; they share a batch.
        await setImmediate();
        if (this.waiting.length === 0) break;
      }
      // Whoever is about to be told comes back, if it is one of many that append one thing after the other.
      const items = this.take(Math.max(LEAST_HALF, Math.ceil((this.waiting.length + untold) / 2)));
      const outcome = this.settle(items);
      tell();
      tell = await outcome;
      untold = items.length;
    }
    this.running = null;
  }

  private take(most: number): Waiting[] {
    const { maxEvents = 2_000, maxBytes = 8_000_000 } = this.options;
    const taken: Waiting[] = [];
    const held: Waiting[] = [];
    const touched = new Set<string>();
    let events = 0;
    let bytes = 0;
    for (const [index, item] of this.waiting.entries()) {
      const { request } = item;
      if (taken.length === most || (taken.length > 0 && (events + request.events > maxEvents || bytes + request.bytes > maxBytes))) {
        held.push(...this.waiting.slice(index));
        break;
      }
      let free = true;
      for (const key of request.touches) {
        if (touched.has(key)) free = false;
        else touched.add(key);
      }
      if (free) {
        taken.push(item);
        events += request.events;
        bytes += request.bytes;
      } else held.push(item);
    }
    this.waiting = held;
    return taken;
  }

  /** Has a batch applied; what it gives back tells the callers. Never throws. */
  private async settle(items: Waiting[]): Promise<() => void> {
    const requests = items.map((item) => item.request);
    try {
      const spans = items.map((item) => item.span);
      const row = await observedBatch(this.options.writer, requests.length, spans, () => this.commit(requests));
      const results = appendResults(row, requests, this.options.prefixes);
      return () => {
        for (const [i, item] of items.entries()) item.resolve(results[i] as AppendResult);
      };
    } catch (error) {
      if (items.length === 1 || error instanceof EventStoreUnavailableError) {
        return () => {
          for (const item of items) item.reject(error);
        };
      }
      this.options.logger?.warn({ requests: items.length, err: error }, 'batch of appends rejected, splitting it');
      const half = Math.ceil(items.length / 2);
      const tellFirst = await this.settle(items.slice(0, half));
      const tellSecond = await this.settle(items.slice(half));
      return () => {
        tellFirst();
        tellSecond();
      };
    }
  }

  /** One batch under one number, until its outcome is known. */
  private async commit(requests: PreparedRequest[]): Promise<AppendRow> {
    const { writer, patienceMs = 30_000 } = this.options;
    const values = appendParameters({ writer, appender: this.id, batch: ++this.batch }, requests);
    const deadline = performance.now() + patienceMs;
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.execute(values);
      } catch (error) {
        // What PostgreSQL says of the batch itself. What it does not say (a broken connection, whatever its words) is about no batch.
        if (sqlState(error) !== undefined && !isPassing(error)) throw error;
        if (!isConflict(error)) await this.disconnect();
        if (performance.now() > deadline) {
          throw new EventStoreUnavailableError('Writing to the event store failed; it is unknown whether the last attempt was stored.', {
            cause: error,
          });
        }
        this.options.logger?.warn({ attempt, err: error }, 'resending a batch of appends');
        await sleep(Math.random() * Math.min(1_000, 10 * 2 ** attempt));
      }
    }
  }

  private async execute(values: unknown[]): Promise<AppendRow> {
    const client = this.client ?? (await this.connect());
    const timeout = this.options.batchTimeoutMs ?? 15_000;
    const { rows } = await client.query<AppendRow>({ ...APPEND, values, query_timeout: timeout } as pg.QueryConfig);
    return rows[0] as AppendRow;
  }

  /** A connection of its own: a pool that its readers have emptied does not hold up the writing. */
  private async connect(): Promise<pg.Client> {
    const client = new pg.Client({ ...this.options.pool.options, connectionTimeoutMillis: 5_000 });
    client.on('error', () => {});
    client.once('end', () => {
      if (this.client === client) this.client = null;
    });
    try {
      await client.connect();
    } catch (error) {
      destroy(client);
      // Whatever code it has: nothing was sent, and it says nothing about the batch.
      throw new Error('PostgreSQL is unreachable.', { cause: error });
    }
    this.client = client;
    return client;
  }

  private async disconnect(): Promise<void> {
    const { client } = this;
    this.client = null;
    if (!client) return;
    const patience = new AbortController();
    await Promise.race([client.end().catch(() => {}), sleep(1_000, undefined, { signal: patience.signal }).catch(() => {})]);
    patience.abort();
    destroy(client);
  }
}

/** The polite end waits for the server; one that hangs is left without it. */
function destroy(client: pg.Client): void {
  (client as unknown as { connection: { stream: Socket } }).connection.stream.destroy();
}
