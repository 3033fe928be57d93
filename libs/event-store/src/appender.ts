/**
 * Group commit: what arrives while a batch is in flight is the next batch.
 *
 * G1 At most one batch is in flight in this process; batches are sent in the order their oldest request came.
 * G2 No two requests of a batch touch the same stream, reservation, timer or idempotency key: the later one waits for the next batch.
 * G3 A batch whose outcome is unknown (connection lost) is sent again with the same event ids, and the function tells what it did before.
 * G4 An error PostgreSQL did not promise is narrowed down: the batch is halved until the request that causes it stands alone.
 */
import { inTransaction, sqlState } from '@countersign/database';
import type { Logger } from '@countersign/telemetry';
import type { Pool, PoolClient } from 'pg';
import { APPEND, type AppendRow, appendParameters, appendResults } from './batch.js';
import type { PreparedRequest } from './request.js';
import type { AppendResult } from './types.js';

interface Waiting {
  request: PreparedRequest;
  resolve(result: AppendResult): void;
  reject(error: unknown): void;
}

export interface AppenderOptions {
  pool: Pool;
  writer: string;
  prefixes: Record<string, string>;
  logger?: Logger;
  maxEvents?: number;
  maxBytes?: number;
}

export class Appender {
  private waiting: Waiting[] = [];
  private running: Promise<void> | null = null;
  private client: PoolClient | null = null;
  private closed = false;

  constructor(private readonly options: AppenderOptions) {}

  append(request: PreparedRequest): Promise<AppendResult> {
    if (this.closed) return Promise.reject(new Error('The event store is closed.'));
    return new Promise((resolve, reject) => {
      this.waiting.push({ request, resolve, reject });
      this.running ??= this.run();
    });
  }

  /** Sends what waits, then lets the connection go. */
  async close(): Promise<void> {
    this.closed = true;
    await this.running;
    this.client?.release();
    this.client = null;
  }

  private async run(): Promise<void> {
    // Callers of the same turn of the event loop share the first batch.
    await Promise.resolve();
    while (this.waiting.length > 0) await this.send(this.take(), false);
    this.running = null;
  }

  private take(): Waiting[] {
    const { maxEvents = 2_000, maxBytes = 8_000_000 } = this.options;
    const taken: Waiting[] = [];
    const held: Waiting[] = [];
    const touched = new Set<string>();
    let events = 0;
    let bytes = 0;
    for (const [index, item] of this.waiting.entries()) {
      const count = item.request.parts.reduce((sum, part) => sum + part.events.length, 0);
      if (taken.length > 0 && (events + count > maxEvents || bytes + item.request.bytes > maxBytes)) {
        held.push(...this.waiting.slice(index));
        break;
      }
      const free = item.request.touches.every((key) => !touched.has(key));
      // What a held request touches stays held, too: the second of three writers is not overtaken by the third.
      for (const key of item.request.touches) touched.add(key);
      if (!free) {
        held.push(item);
        continue;
      }
      taken.push(item);
      events += count;
      bytes += item.request.bytes;
    }
    this.waiting = held;
    return taken;
  }

  private async send(batch: Waiting[], retry: boolean): Promise<void> {
    try {
      const row = await this.execute(batch, retry);
      appendResults(
        row,
        batch.map((item) => item.request),
        this.options.prefixes,
      ).forEach((result, i) => batch[i]?.resolve(result));
    } catch (error) {
      if (batch.length === 1) {
        batch[0]?.reject(error);
        return;
      }
      const half = Math.ceil(batch.length / 2);
      await this.send(batch.slice(0, half), retry);
      await this.send(batch.slice(half), retry);
    }
  }

  private async execute(batch: Waiting[], retry: boolean): Promise<AppendRow> {
    const parameters = appendParameters(
      this.options.writer,
      retry,
      batch.map((item) => item.request),
    );
    this.client ??= await this.options.pool.connect();
    const { rows } = await this.client.query<AppendRow>({ ...APPEND, values: parameters });
    return rows[0] as AppendRow;
  }
}
void inTransaction;
void sqlState;
