import { observe } from '@countersign/telemetry';
import type { Pool } from 'pg';

const PRIORITIES = ['low', 'normal', 'high', 'critical'];

/** Reports the reviews that wait for a person, over all projects, whenever metrics are exported. @returns ends it. */
export function observePending(pool: Pool): () => void {
  return observe(['reviewsPending', 'oldestPending'], async (report) => {
    const { rows } = await pool.query<{ priority: string; pending: number; age: number }>(
      `select priority, count(*) as pending, extract(epoch from event_store.now() - min(created_at))::float8 as age
       from audit.reviews where status = 'pending' group by priority`,
    );
    const found = new Map(rows.map((row) => [row.priority, row]));
    for (const priority of PRIORITIES) {
      const { pending = 0, age = 0 } = found.get(priority) ?? {};
      report('reviewsPending', pending, { 'countersign.review.priority': priority });
      report('oldestPending', Math.max(0, age), { 'countersign.review.priority': priority });
    }
  });
}
