/**
 * A consumer group of the Kafka adapter with a handler that does nothing, while another process appends: the relay, the brokers, the feed and
 * the transactions that move the cursor, from the first event appended to the last one handled.
 */
import { CATEGORY_PREFIXES, EVENTS } from '@countersign/contracts';
import { APP_ROLE, createPool } from '@countersign/database';
import { KafkaEventBus } from '@countersign/event-bus';
import { PostgresEventStore } from '@countersign/event-store';
import { createLogger } from '@countersign/telemetry';
import { until } from '@countersign/testing';
import type { Side } from '../figure.js';
import { beside, forkedSide } from '../stage/forked.js';
import { BATCH, CATEGORY } from './messages.js';

export async function start({ database, brokers }: { database: string; brokers: string }): Promise<Side> {
  const pool = createPool({ connectionString: database, role: APP_ROLE, max: 6 });
  const store = new PostgresEventStore({ pool, writer: 'cli', categories: CATEGORY_PREFIXES });
  const bus = new KafkaEventBus({
    pool,
    store,
    connectionString: database,
    logger: createLogger({ service: 'bench', level: 'warn' }),
    kafka: { brokers: [brokers], clientId: 'bench' },
    topicPrefix: 'bench',
    prefixes: CATEGORY_PREFIXES,
    replication: 1,
  });
  let handled = 0;
  await bus.subscribe({
    group: 'bench',
    categories: [CATEGORY],
    handles: [...EVENTS.keys()],
    leaves: [],
    batchSize: BATCH,
    async onBatch(events) {
      handled += events.length;
    },
  });
  const filling = await forkedSide(beside(import.meta, './filling'), { database });
  return {
    async round(seconds) {
      handled = 0;
      const began = performance.now();
      const { event_count } = await filling.round(seconds);
      await until(
        () => handled,
        (count) => count >= (event_count as number),
      );
      return { per_s: handled / ((performance.now() - began) / 1_000) };
    },
    async close() {
      await filling.close();
      await bus.close();
      await store.close();
      await pool.end();
    },
  };
}
