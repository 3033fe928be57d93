import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BUCKETS } from '@countersign/contracts';
import { catalogDump } from '@countersign/database';
import { BUCKETS as BUCKETS_OF_THE_BUS } from '@countersign/event-bus';
import { hasBuckets } from '@countersign/event-store';
import { createLogger } from '@countersign/telemetry';
import { type TestDatabase, testDatabase } from '@countersign/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { MIGRATION_SETS, migrateAll } from './schema.js';

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

describe('the buckets of a database (K11)', () => {
  const logger = createLogger({ service: 'platform', level: 'silent' });

  it('are as many as the contracts say, and as the event bus leases', async () => {
    await migrateAll(db.ownerUrl, logger);
    expect(BUCKETS_OF_THE_BUS).toBe(BUCKETS);
    expect(await hasBuckets(db.pool, BUCKETS)).toBe(true);
    expect([await hasBuckets(db.pool, 1), await hasBuckets(db.pool, 6), await hasBuckets(db.pool, 24)]).toEqual([false, false, false]);
  });

  it('are refused when there are others', async () => {
    const grown = await testDatabase({ sets: [...MIGRATION_SETS] });
    try {
      await grown.ownerPool.query(
        `create or replace function event_store.bucket_of(stream uuid) returns smallint language sql immutable parallel safe
         as $$ select (('x' || encode(substr(sha256(uuid_send(stream)), 1, 4), 'hex'))::bit(32)::bigint % 24)::smallint $$`,
      );
      await expect(migrateAll(grown.ownerUrl, logger)).rejects.toMatchObject({
        name: 'CannotStart',
        message: expect.stringMatching(/^This database does not spread its streams over the 12 buckets of this release[^.]*\.$/),
      });
    } finally {
      await grown.close();
    }
  });
});
