import { createPool } from '@countersign/database';
import { VERSION } from '@countersign/service-host/version';
import { MIGRATION_SETS, migrateAll } from '../../schema.js';
import type { Work } from '../command.js';

/** Brings the database to this version, and says how far it is. */
export const migrateWork: Work = async ({ ownerUrl, logger, teardown }, output) => {
  await migrateAll(ownerUrl, logger);
  const pool = createPool({ connectionString: ownerUrl, max: 1, applicationName: 'countersign migrate' });
  teardown.add(() => pool.end());
  const { rows } = await pool.query<{ schema: string; migrations: number }>(
    'select schema, count(*)::int as migrations from migrations.applied where schema = any($1) group by schema order by schema',
    [MIGRATION_SETS.map(({ name }) => name)],
  );
  const total = rows.reduce((sum, { migrations }) => sum + migrations, 0);
  output.answer({ version: VERSION, schemas: rows }, () => [
    `The database has what version ${VERSION} needs: ${total} migrations in ${rows.length} schemas.`,
  ]);
  return 0;
};
