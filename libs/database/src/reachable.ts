import type { Pool } from 'pg';

/** Whether the database answers and holds the event store (K20). Never throws. */
export async function reachable(pool: Pool): Promise<{ ok: boolean }> {
  try {
    await pool.query('select event_store.now()');
    return { ok: true };
  } catch {
    return { ok: false };
  }
}
