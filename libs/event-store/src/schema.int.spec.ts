import { readFile, writeFile } from 'node:fs/promises';
import { catalogDump } from '@countersign/database';
import { type TestDatabase, testDatabase } from '@countersign/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { EVENT_STORE_MIGRATIONS } from './index.js';

let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase({ sets: [EVENT_STORE_MIGRATIONS] });
});
afterAll(() => db.close());

describe('the schema', () => {
  it('is the one committed in schema.sql', async () => {
    const file = new URL('../schema.sql', import.meta.url);
    const dump = await catalogDump(db.ownerPool, ['event_store']);
    // UPDATE_SCHEMA=1 writes it after a new migration; the change is then part of the review.
    if (process.env.UPDATE_SCHEMA) await writeFile(file, dump);
    expect(dump).toBe(await readFile(file, 'utf8'));
  });
});
