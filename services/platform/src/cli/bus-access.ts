import { CATEGORY_PREFIXES } from '@countersign/contracts';
import { APP_ROLE, createPool } from '@countersign/database';
import { type EventBus, StoreEventBus } from '@countersign/event-bus';
import { PostgresEventStore } from '@countersign/event-store';
import type { Pool } from 'pg';
import type { Connection } from './connection.js';

/** What a command about consumers works with. It reads and changes their state in the database; it consumes nothing itself. */
export interface BusAccess {
  pool: Pool;
  bus: EventBus;
  groups: string[];
}

export async function accessBus({ ownerUrl, logger, teardown }: Connection): Promise<BusAccess> {
  const pool = createPool({ connectionString: ownerUrl, role: APP_ROLE, max: 4, applicationName: 'countersign cli' });
  teardown.add(() => pool.end());
  const store = new PostgresEventStore({ pool, writer: 'cli', categories: CATEGORY_PREFIXES });
  const bus = new StoreEventBus({ pool, store, connectionString: ownerUrl, logger });
  teardown.add(() => bus.close());
  const { rows } = await pool.query<{ name: string }>('select name from event_bus.groups order by name');
  return { pool, bus, groups: rows.map(({ name }) => name) };
}
