/** A consumer group of the store adapter, new in every round, from the log's beginning to its end; its handler does nothing. */
import { randomUUID } from 'node:crypto';
import { CATEGORY_PREFIXES, EVENTS } from '@countersign/contracts';
import { APP_ROLE, createPool } from '@countersign/database';
import { StoreEventBus } from '@countersign/event-bus';
import { PostgresEventStore } from '@countersign/event-store';
import { createLogger } from '@countersign/telemetry';
import type { Side } from '../figure.js';
import { BATCH, CATEGORY } from './messages.js';

export async function start({ database }: { database: string }): Promise<Side> {
  const pool = createPool({ connectionString: database, role: APP_ROLE, max: 6 });
  const store = new PostgresEventStore({ pool, writer: 'cli', categories: CATEGORY_PREFIXES });
  const logger = createLogger({ service: 'bench', level: 'warn' });
  const bus = new StoreEventBus({ pool, store, connectionString: database, logger });
  return {
    async round() {
      const { position: last } = await store.head();
      let handled = 0;
      const began = performance.now();
      const done = Promise.withResolvers<void>();
      const subscription = await bus.subscribe({
        group: `bench-${randomUUID()}`,
        categories: [CATEGORY],
        handles: [...EVENTS.keys()],
        leaves: [],
        batchSize: BATCH,
        async onBatch(events) {
          handled += events.length;
          if (handled >= last) done.resolve();
        },
      });
      await done.promise;
      const per_s = handled / ((performance.now() - began) / 1_000);
      await subscription.close();
      return { per_s };
    },
    async close() {
      await bus.close();
      await store.close();
      await pool.end();
    },
  };
}
