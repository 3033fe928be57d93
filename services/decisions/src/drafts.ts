import type { Pool, PoolClient } from 'pg';

/** A reviewer's unsent edits (HRP §2.6). */
export interface Draft {
  payload: Record<string, unknown>;
  by: string;
  at: string;
}

interface DraftRow {
  payload: Record<string, unknown>;
  author: string;
  saved_at: Date;
}

/** The newest save is kept, whoever made it. Times as events have them, to the millisecond: either can be told to be the later. */
export async function saveDraft(
  pool: Pool,
  draft: { review: string; project: string; person: string; author: string; payload: Record<string, unknown> },
): Promise<void> {
  await pool.query(
    `insert into decisions.drafts (review, project, person, author, payload, saved_at)
     values ($1, $2, $3, $4, $5, date_trunc('milliseconds', event_store.now()))
     on conflict (review) do update
     set person = excluded.person, author = excluded.author, payload = excluded.payload, saved_at = excluded.saved_at`,
    [draft.review, draft.project, draft.person, draft.author, JSON.stringify(draft.payload)],
  );
}

export async function loadDraft(pool: Pool, review: string): Promise<Draft | null> {
  const { rows } = await pool.query<DraftRow>('select payload, author, saved_at from decisions.drafts where review = $1', [review]);
  const [row] = rows;
  return row ? { payload: row.payload, by: row.author, at: row.saved_at.toISOString() } : null;
}

export async function discardDraft(pool: Pool, review: string): Promise<void> {
  await pool.query('delete from decisions.drafts where review = $1', [review]);
}

/** Takes away drafts that something later than them has made pointless. */
export async function dropStaleDrafts(tx: PoolClient, reviews: { review: string; time: string }[]): Promise<void> {
  if (reviews.length === 0) return;
  await tx.query(
    `delete from decisions.drafts d using unnest($1::text[], $2::timestamptz[]) as stale (review, at)
     where d.review = stale.review and d.saved_at <= stale.at`,
    [reviews.map((r) => r.review), reviews.map((r) => r.time)],
  );
}
