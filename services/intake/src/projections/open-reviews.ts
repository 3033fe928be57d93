/** Read model: which reviews of a template nobody has settled yet. Asked before a template is deleted. */
import type { ReviewEvent } from '@countersign/contracts';
import type { StoredEvent } from '@countersign/event-store';
import type { Pool, PoolClient } from 'pg';

export async function applyOpenReviews(tx: PoolClient, events: StoredEvent<ReviewEvent>[], schema: string): Promise<void> {
  const open = new Map<string, string>();
  const settled = new Set<string>();
  for (const event of events) {
    if (event.type === 'review.requested') {
      if (event.body) open.set(event.stream, event.body.template.id);
    } else if (!open.delete(event.stream)) settled.add(event.stream);
  }
  if (settled.size > 0) await tx.query(`delete from ${schema}.open_reviews where review = any ($1)`, [[...settled]]);
  if (open.size === 0) return;
  await tx.query(
    `insert into ${schema}.open_reviews (review, template) select * from unnest($1::text[], $2::text[]) on conflict (review) do nothing`,
    [[...open.keys()], [...open.values()]],
  );
}

export async function countOpenReviews(pool: Pool, template: string): Promise<number> {
  const { rows } = await pool.query<{ count: number }>('select count(*)::int as count from intake.open_reviews where template = $1', [
    template,
  ]);
  return rows[0]?.count ?? 0;
}
