import type { Pool, PoolClient } from 'pg';
import { isConflict } from './passing.js';

const ATTEMPTS = 10;

/** The SQLSTATE of an error PostgreSQL sent, or undefined. */
export function sqlState(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : undefined;
}

/**
 * Runs `fn` in a transaction: commits when it resolves, rolls back when it throws.
 *
 * `fn` runs again from the start after a serialization failure or a deadlock (10 attempts), so it must have no effect outside `tx`.
 * A connection that cannot be rolled back is thrown away, never handed to the next caller in the middle of a transaction.
 */
export async function inTransaction<T>(pool: Pool, fn: (tx: PoolClient) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const tx = await pool.connect();
    let broken = false;
    // A connection that breaks between two queries says so by this event; unheard, it would end the process. The next query fails anyway.
    const onError = () => {
      broken = true;
    };
    tx.on('error', onError);
    try {
      await tx.query('begin');
      const result = await fn(tx);
      const done = await tx.query('commit');
      if (done.command !== 'COMMIT')
        throw new Error('The transaction was aborted by an earlier error that was not rethrown; nothing was committed.');
      return result;
    } catch (error) {
      await tx.query('rollback').catch(() => {
        broken = true;
      });
      if (attempt >= ATTEMPTS || !isConflict(error)) throw error;
    } finally {
      tx.removeListener('error', onError);
      tx.release(broken);
    }
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 5 * 2 ** Math.min(attempt, 6)));
  }
}
