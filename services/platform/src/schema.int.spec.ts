import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { catalogDump } from '@countersign/database';
import { type TestDatabase, testDatabase } from '@countersign/testing';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { MIGRATION_SETS } from './schema.js';

jest.setTimeout(60_000);

let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase({ sets: [...MIGRATION_SETS] });
});
afterAll(() => db.close());

describe('a schema', () => {
  it.each(MIGRATION_SETS)('of $name is the one in its schema.sql; after a migration, run this with WRITE_SCHEMA=1', async (set) => {
    const file = join(set.directory, '../schema.sql');
    const dump = await catalogDump(db.ownerPool, [set.name]);
    if (process.env.WRITE_SCHEMA) await writeFile(file, dump);
    expect(dump).toBe(await readFile(file, 'utf8'));
    expect(dump).toContain(`${set.name}.`);
  });

  it('is all there is in the database', async () => {
    const { rows } = await db.ownerPool.query<{ name: string }>(
      `select nspname as name from pg_namespace where nspname !~ '^pg_' and nspname not in ('information_schema', 'public')`,
    );
    const tracked = MIGRATION_SETS.map(({ name }) => name);
    expect(rows.map(({ name }) => name).filter((name) => !tracked.includes(name))).toEqual(['migrations']);
  });
});
