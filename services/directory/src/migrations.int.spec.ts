import { EVENT_STORE_MIGRATIONS } from '@countersign/event-store';
import { type TestDatabase, testDatabase } from '@countersign/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DIRECTORY_MIGRATIONS } from './migrations.js';

let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase({ sets: [EVENT_STORE_MIGRATIONS, DIRECTORY_MIGRATIONS] });
});
afterAll(() => db.close());

describe('the schema of the directory', () => {
  it('leaves the application the log to read, and nothing of the schema to change', async () => {
    await expect(db.pool.query('drop table directory.sessions')).rejects.toThrow(/must be owner/);
    await expect(db.pool.query(`insert into event_store.events default values`)).rejects.toThrow(/permission denied/);
    expect((await db.pool.query('select 1 from directory.sessions')).rows).toEqual([]);
  });
});
