import { observe } from '@countersign/telemetry';
import type { Pool } from 'pg';

/** Reports what has not come to an end, whenever metrics are exported. @returns ends it. */
export function observeBacklog(pool: Pool): () => void {
  return observe(['webhooksPending', 'webhookOldest'], async (report) => {
    const { rows } = await pool.query<{ pending: number; age: number }>(
      `select count(*) as pending, coalesce(extract(epoch from webhooks.time_now() - min(created_at)), 0)::float8 as age
       from webhooks.deliveries where status = 'pending'`,
    );
    report('webhooksPending', rows[0]?.pending ?? 0, {});
    report('webhookOldest', Math.max(0, rows[0]?.age ?? 0), {});
  });
}
