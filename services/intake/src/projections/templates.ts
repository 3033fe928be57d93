/** Read model: the templates of a project, in the order they were made. */
import type { TemplateEvent } from '@countersign/contracts';
import type { StoredEvent } from '@countersign/event-store';
import type { Pool, PoolClient } from 'pg';
import { type TemplateState, templateFold } from '../templates/template.js';

interface Row {
  template: string;
  project: string;
  version: number;
  state: TemplateState;
  created_at: string | Date;
}

/** Applies events to the rows they touch, one read and one write for the batch. */
export async function applyTemplates(tx: PoolClient, events: StoredEvent<TemplateEvent>[], schema: string): Promise<void> {
  const ids = [...new Set(events.map((event) => event.stream))];
  const { rows } = await tx.query<Row>(
    `select template, project, version, state, created_at from ${schema}.templates where template = any ($1)`,
    [ids],
  );
  const known = new Map(rows.map((row) => [row.template, row]));
  for (const event of events) {
    const { stream: template, project, time: created_at } = event;
    const row = known.get(template) ?? { template, project, version: 0, state: templateFold.initial(), created_at };
    if (event.version <= row.version) continue;
    known.set(template, { ...row, version: event.version, state: templateFold.evolve(row.state, event) });
  }
  const changed = [...known.values()];
  await tx.query(
    `insert into ${schema}.templates (template, project, version, state, created_at)
     select * from unnest($1::text[], $2::text[], $3::int[], $4::json[], $5::timestamptz[])
     on conflict (template) do update set version = excluded.version, state = excluded.state`,
    [
      changed.map((row) => row.template),
      changed.map((row) => row.project),
      changed.map((row) => row.version),
      changed.map((row) => JSON.stringify(row.state)),
      changed.map((row) => row.created_at),
    ],
  );
}

/** Oldest first. Deleted templates are no longer listed. */
export async function templatesOf(pool: Pool, project: string): Promise<TemplateState[]> {
  const { rows } = await pool.query<Pick<Row, 'state'>>(
    `select state from intake.templates where project = $1 and state->>'status' in ('draft', 'active', 'inactive')
     order by created_at, template`,
    [project],
  );
  return rows.map((row) => row.state);
}
