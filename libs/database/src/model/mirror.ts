/** A pool that sends every statement to PostgreSQL and to its model, and compares what they say: how a test holds one against the other. */
import { isDeepStrictEqual } from 'node:util';
import type { Pool, PoolClient } from 'pg';
import type { MemoryPool } from './memory-pool.js';

/** Rows without an order of their own come in any. */
const inOrder = (text: string, rows: unknown[]): unknown[] =>
  /order by/i.test(text) ? rows : rows.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));

interface Asked {
  query(query: unknown, values?: unknown[]): Promise<{ rows: unknown[]; rowCount: number | null }>;
}

/**
 * One statement after the other, from one caller: nothing may wait for a lock.
 * @param bare an answer's row without what each side makes up for itself, such as times of its own clock.
 */
export function mirror(real: Pool, model: MemoryPool, bare: (row: Record<string, unknown>) => unknown = (row) => row): Pool {
  const both = (database: Asked, memory: Asked) => ({
    async query(query: unknown, values?: unknown[]) {
      const answer = await database.query(query, values);
      const modelled = await memory.query(query, values);
      const text = typeof query === 'string' ? query : (query as { text: string }).text;
      const [said, expected] = [answer.rows, modelled.rows].map((rows) => inOrder(text, (rows as Record<string, unknown>[]).map(bare)));
      if (!isDeepStrictEqual(said, expected) || (!/^(begin|commit|rollback)$/.test(text) && answer.rowCount !== modelled.rowCount)) {
        throw new Error(
          `PostgreSQL and its model differ.\n${text}\n${JSON.stringify(values ?? (query as { values?: unknown }).values)}\nPostgreSQL: ${answer.rowCount} ${JSON.stringify(said)}\nmodel: ${modelled.rowCount} ${JSON.stringify(expected)}`,
        );
      }
      return answer;
    },
  });
  return {
    ...both(real as unknown as Asked, model as unknown as Asked),
    async connect() {
      const [client, session] = [await real.connect(), await model.connect()];
      const asked = both(client as unknown as Asked, session as unknown as Asked);
      return {
        query: asked.query,
        on: (name: 'error', listener: () => void) => client.on(name, listener),
        removeListener: (name: 'error', listener: () => void) => client.removeListener(name, listener),
        release: (broken?: boolean) => {
          client.release(broken);
          session.release();
        },
      } as unknown as PoolClient;
    },
  } as unknown as Pool;
}
