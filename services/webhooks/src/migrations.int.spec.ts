import { readFile, writeFile } from 'node:fs/promises';
import { catalogDump } from '@countersign/database';
import { defaultSets, type TestDatabase, testDatabase } from '@countersign/testing';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { WEBHOOKS_MIGRATIONS } from './migrations.js';

jest.setTimeout(60_000);

let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase({ sets: [...defaultSets(), WEBHOOKS_MIGRATIONS] });
});
afterAll(() => db.close());

describe('the schema of webhooks', () => {
  it('is the one in schema.sql; after a migration run this with WRITE_SCHEMA=1 and read the difference', async () => {
    const file = new URL('../schema.sql', import.meta.url);
    const dump = await catalogDump(db.ownerPool, ['webhooks']);
    if (process.env.WRITE_SCHEMA) await writeFile(file, dump);
    expect(dump).toBe(await readFile(file, 'utf8'));
  });

  it('lets the application forget no delivery', async () => {
    await expect(db.pool.query('delete from webhooks.deliveries')).rejects.toThrow(/permission denied/);
    await expect(db.pool.query('delete from webhooks.endpoints')).rejects.toThrow(/permission denied/);
  });
});
