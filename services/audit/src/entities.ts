/** The read models as TypeORM sees them: for queries only. Rows are written by the projections, in the transaction that moves the cursor. */
import { SERVING, typeParsers } from '@countersign/database';
import type { ReviewState } from '@countersign/review';
import { DataSource, EntitySchema } from 'typeorm';

export interface ReviewRow {
  review: string;
  project: string;
  template: string;
  template_slug: string;
  status: string;
  priority: string;
  urgency: number;
  assignee: string | null;
  outcome: string | null;
  decided_by: string | null;
  created_at: Date;
  decided_at: Date | null;
  /** Worked out by the table from the state. */
  settled_at: Date | null;
  state: ReviewState;
}

export const ReviewRows = new EntitySchema<ReviewRow>({
  name: 'review',
  schema: 'audit',
  tableName: 'reviews',
  columns: {
    review: { type: 'text', primary: true },
    project: { type: 'text' },
    template: { type: 'text' },
    template_slug: { type: 'text' },
    status: { type: 'text' },
    priority: { type: 'text' },
    urgency: { type: 'smallint' },
    assignee: { type: 'text', nullable: true },
    outcome: { type: 'text', nullable: true },
    decided_by: { type: 'text', nullable: true },
    created_at: { type: 'timestamptz' },
    decided_at: { type: 'timestamptz', nullable: true },
    settled_at: { type: 'timestamptz', nullable: true },
    state: { type: 'json' },
  },
});

export interface TallyRow {
  project: string;
  template: string;
  template_slug: string;
  status: string;
  priority: string;
  assignee: string;
  outcome: string;
  decided_by: string;
  count: number;
  decision_ms: number;
}

/** bigint arrives as text; counts and milliseconds stay far below 2^53. */
const numeric = { to: (value: number) => value, from: (value: string | number) => Number(value) };

export const TallyRows = new EntitySchema<TallyRow>({
  name: 'tally',
  schema: 'audit',
  tableName: 'tallies',
  columns: {
    project: { type: 'text', primary: true },
    template: { type: 'text', primary: true },
    template_slug: { type: 'text', primary: true },
    status: { type: 'text', primary: true },
    priority: { type: 'text', primary: true },
    assignee: { type: 'text', primary: true },
    outcome: { type: 'text', primary: true },
    decided_by: { type: 'text', primary: true },
    count: { type: 'bigint', transformer: numeric },
    decision_ms: { type: 'bigint', transformer: numeric },
  },
});

export interface LogRow {
  position: number;
  project: string;
  action: string;
  actor: string;
  resource_type: string;
  resource_id: string;
  time: Date;
}

export const LogRows = new EntitySchema<LogRow>({
  name: 'log',
  schema: 'audit',
  tableName: 'log',
  columns: {
    position: { type: 'bigint', primary: true, transformer: numeric },
    project: { type: 'text' },
    action: { type: 'text' },
    actor: { type: 'text' },
    resource_type: { type: 'text' },
    resource_id: { type: 'text' },
    time: { type: 'timestamptz' },
  },
});

/** Connections for queries; `synchronize` stays off, migrations are ours. */
export function readModels(databaseUrl: string): Promise<DataSource> {
  return new DataSource({
    type: 'postgres',
    url: databaseUrl,
    entities: [ReviewRows, TallyRows, LogRows],
    synchronize: false,
    migrationsRun: false,
    logging: false,
    applicationName: 'audit read models',
    poolSize: 4,
    extra: { options: '-c role=countersign_app', types: typeParsers, ...SERVING },
  }).initialize();
}
