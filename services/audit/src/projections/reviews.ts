/**
 * Read model: the reviews of a project as the lists show them, and how many there are of each kind.
 *
 * A row holds the folded state, so the next event evolves it further; `version` makes an event that comes twice change nothing, and the
 * tallies move by the difference between a row before and after.
 */
import type { ReviewEvent } from '@countersign/contracts';
import type { StoredEvent } from '@countersign/event-store';
import { initial, type ReviewState, reviewFold } from '@countersign/review';
import type { PoolClient } from 'pg';
import { applyTallies, type Tally, tallyOf } from './tallies.js';

const URGENCY: Record<string, number> = { low: 0, normal: 1, high: 2, critical: 3 };

interface Row {
  review: string;
  version: number;
  state: ReviewState;
}

export async function applyReviews(tx: PoolClient, events: StoredEvent<ReviewEvent>[], schema: string): Promise<void> {
  const ids = [...new Set(events.map((event) => event.stream))];
  const { rows } = await tx.query<Row>(`select review, version, state from ${schema}.reviews where review = any ($1)`, [ids]);
  const before = new Map(rows.map((row) => [row.review, row]));
  const after = new Map(before);
  for (const event of events) {
    const row = after.get(event.stream) ?? { review: event.stream, version: 0, state: initial() };
    if (event.version <= row.version) continue;
    after.set(event.stream, { review: event.stream, version: event.version, state: reviewFold.evolve(row.state, event) });
  }
  const changed = [...after.values()].filter((row) => before.get(row.review) !== row);
  if (changed.length === 0) return;
  await save(tx, changed, schema);
  const moved = changed.flatMap((row): Tally[] => [...tallyOf(before.get(row.review)?.state, -1), ...tallyOf(row.state, 1)]);
  await applyTallies(tx, moved, schema);
}

async function save(tx: PoolClient, rows: Row[], schema: string): Promise<void> {
  const columns = rows.map(({ review, version, state }) => {
    // What is erased keeps its place, so that a later event is known to be later; no list shows it.
    if (state.status === 'none') {
      const nothing = { project: '', template: '', template_slug: '', status: 'erased', priority: '', urgency: 0, assignee: null };
      return {
        review,
        version,
        state,
        ...nothing,
        outcome: null,
        decided_by: null,
        created_at: new Date(0).toISOString(),
        decided_at: null,
      };
    }
    const outcome = 'outcome' in state && state.outcome.kind === 'decided' ? state.outcome : null;
    return {
      review,
      version,
      state,
      project: state.project_id,
      template: state.template.id,
      template_slug: state.template.slug,
      status: state.status,
      priority: state.priority,
      urgency: URGENCY[state.priority] ?? 0,
      assignee: state.assignee,
      outcome: outcome?.decision ?? null,
      decided_by: outcome?.decided_by.kind ?? null,
      created_at: state.created_at,
      decided_at: outcome?.decided_at ?? null,
    };
  });
  await tx.query(
    `insert into ${schema}.reviews (review, project, template, template_slug, status, priority, urgency, assignee, outcome, decided_by,
       created_at, decided_at, version, state)
     select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::smallint[], $8::text[], $9::text[],
       $10::text[], $11::timestamptz[], $12::timestamptz[], $13::int[], $14::json[])
     on conflict (review) do update set project = excluded.project, template = excluded.template, template_slug = excluded.template_slug,
       status = excluded.status, priority = excluded.priority, urgency = excluded.urgency, assignee = excluded.assignee,
       outcome = excluded.outcome, decided_by = excluded.decided_by, created_at = excluded.created_at, decided_at = excluded.decided_at,
       version = excluded.version, state = excluded.state`,
    [
      columns.map((c) => c.review),
      columns.map((c) => c.project),
      columns.map((c) => c.template),
      columns.map((c) => c.template_slug),
      columns.map((c) => c.status),
      columns.map((c) => c.priority),
      columns.map((c) => c.urgency),
      columns.map((c) => c.assignee),
      columns.map((c) => c.outcome),
      columns.map((c) => c.decided_by),
      columns.map((c) => c.created_at),
      columns.map((c) => c.decided_at),
      columns.map((c) => c.version),
      columns.map((c) => JSON.stringify(c.state)),
    ],
  );
}
