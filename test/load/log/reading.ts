/** Reads the whole log: `rebuild` makes audit's read models anew, the largest there are, `verify` checks every hash. What the CLI runs. */
import { AUDIT_PROJECTION } from '@countersign/audit';
import { CATEGORY_PREFIXES } from '@countersign/contracts';
import { APP_ROLE, createPool } from '@countersign/database';
import { rebuildProjection } from '@countersign/event-bus';
import { PostgresEventStore } from '@countersign/event-store';
import type { Side } from '../figure.js';

export async function start({ database, what }: { database: string; what: 'rebuild' | 'verify' }): Promise<Side> {
  const owner = createPool({ connectionString: database, max: 2 });
  const pool = createPool({ connectionString: database, role: APP_ROLE, max: 2 });
  const store = new PostgresEventStore({ pool, writer: 'cli', categories: CATEGORY_PREFIXES });

  async function verify(): Promise<number> {
    const { valid, events } = await store.verify();
    if (!valid) throw new Error('The log does not verify.');
    return events;
  }
  const rebuild = async () => (await rebuildProjection(AUDIT_PROJECTION, { owner, store })).events;
  return {
    async round() {
      const began = performance.now();
      const events = await (what === 'verify' ? verify() : rebuild());
      const took_s = (performance.now() - began) / 1_000;
      return { per_s: events / took_s, took_s, event_count: events };
    },
    async close() {
      await store.close();
      await pool.end();
      await owner.end();
    },
  };
}
