/** What the three figures of appending have in common: one PostgreSQL, a table for each side, a checkpoint before each turn. */
import type { Running, Side, Stage } from '../figure.js';
import { type Database, startDatabase } from '../stage/database.js';
import { beside, forkedSide } from '../stage/forked.js';
import { tableOf } from './table.js';

export const TOPOLOGY =
  'The event store in one Node process, on the PostgreSQL of `npm start` (fsync on); contract validation, hash chain, version check, an idempotency key and a span for each append.';

interface Place extends Stage {
  database: Database;
}

export const side = ({ database, telemetry }: Place, module: string, callers: number): Promise<Side> =>
  forkedSide(beside(import.meta, `./${module}`), { url: database.url, callers, telemetry }, { OTEL_EXPORTER_OTLP_ENDPOINT: telemetry });

export async function appending(
  stage: Stage,
  tables: readonly string[],
  open: (place: Place) => Promise<Record<string, Side>>,
): Promise<Running> {
  const database = await startDatabase(stage.folder);
  await database.query(
    [...tables.map(tableOf), 'create table if not exists bench.streams (stream uuid primary key, version integer not null)'].join(';'),
  );
  return {
    sides: await open({ ...stage, database }),
    // Each side writes its first change to a page in full after a checkpoint: nobody does so for another.
    settle: () => database.query('checkpoint'),
    close: () => database.close(),
  };
}
