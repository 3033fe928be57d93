/** Read model: which open reviews are in whose hands. Asked when somebody leaves a project. */
import type { ReviewEvent } from '@countersign/contracts';
import { REDACTED, type StoredEvent } from '@countersign/event-store';
import type { PoolClient } from 'pg';

interface Hands {
  review: string;
  project: string;
  /** Ids of people; null where it is nobody's, or a role's. */
  assignee: string | null;
  holder: string | null;
}

/** Facts that put a review into somebody's hands or out of them. */
export const IN_HAND_TYPES = [
  'review.requested',
  'review.assigned',
  'review.claimed',
  'review.released',
  'review.unassigned',
  'review.decided',
  'review.expired',
  'review.withdrawn',
  REDACTED,
] as const;

function evolve(hands: Hands, event: StoredEvent<ReviewEvent>): Hands {
  if (event.body === null) return { ...hands, assignee: null, holder: null };
  switch (event.type) {
    case 'review.requested':
      return { ...hands, assignee: event.body.assignee_id ?? null, holder: null };
    case 'review.assigned': {
      const { assignee_id, hold } = event.body;
      return { ...hands, assignee: assignee_id ?? null, holder: hold === null ? hands.holder : hold.person_id };
    }
    case 'review.claimed':
      return { ...hands, holder: event.body.by.id };
    case 'review.released':
      return { ...hands, holder: null };
    case 'review.unassigned': {
      const { previous_assignee, holder } = event.body;
      return { ...hands, assignee: previous_assignee === null ? hands.assignee : null, holder: holder === null ? hands.holder : null };
    }
    // Settled or erased: nobody has it any more.
    default:
      return { ...hands, assignee: null, holder: null };
  }
}

/** One read and one write for the batch. */
export async function applyInHand(tx: PoolClient, events: StoredEvent<ReviewEvent>[], schema: string): Promise<void> {
  const { rows } = await tx.query<Hands>(`select review, project, assignee, holder from ${schema}.in_hand where review = any ($1)`, [
    [...new Set(events.map((event) => event.stream))],
  ]);
  const stored = new Map(rows.map((row) => [row.review, row]));
  const known = new Map(stored);
  for (const event of events) {
    const { stream: review, project } = event;
    known.set(review, evolve(known.get(review) ?? { review, project, assignee: null, holder: null }, event));
  }
  const all = [...known.values()];
  const held = all.filter(({ assignee, holder }) => assignee !== null || holder !== null);
  const free = all.filter((one) => !held.includes(one)).map(({ review }) => review);
  const gone = free.filter((review) => stored.has(review));
  if (gone.length > 0) await tx.query(`delete from ${schema}.in_hand where review = any ($1)`, [gone]);
  if (held.length === 0) return;
  await tx.query(
    `insert into ${schema}.in_hand (review, project, assignee, holder)
     select * from unnest($1::text[], $2::text[], $3::text[], $4::text[])
     on conflict (review) do update set assignee = excluded.assignee, holder = excluded.holder`,
    [held.map((h) => h.review), held.map((h) => h.project), held.map((h) => h.assignee), held.map((h) => h.holder)],
  );
}
