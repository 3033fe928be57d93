import type { Pool } from 'pg';

/** Rows a sweep touches; the next one goes on. */
const BATCH = 1_000;

/** Drops what was sent and answered of deliveries that arrived long ago: an agent's data is not kept for ever. What could still be replayed stays. */
export async function dropOldBodies(pool: Pool, keepMs: number): Promise<void> {
  const { rows } = await pool.query<{ id: string }>(
    `update webhooks.deliveries d set body = null
     from (select id from webhooks.deliveries where status = 'delivered' and body is not null
             and settled_at < event_store.now() - $1 * interval '1 millisecond' order by settled_at limit $2) old
     where d.id = old.id returning d.id`,
    [keepMs, BATCH],
  );
  if (rows.length === 0) return;
  await pool.query('update webhooks.attempts set response_preview = null where delivery = any($1) and response_preview is not null', [
    rows.map((row) => row.id),
  ]);
}
