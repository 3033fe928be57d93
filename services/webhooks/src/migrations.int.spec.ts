import { defaultSets, type TestDatabase, testDatabase } from '@countersign/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { WEBHOOKS_MIGRATIONS } from './migrations.js';

let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase({ sets: [...defaultSets(), WEBHOOKS_MIGRATIONS] });
});
afterAll(() => db.close());

describe('the schema of webhooks', () => {
  it('lets the application forget no delivery', async () => {
    await expect(db.pool.query('delete from webhooks.deliveries')).rejects.toThrow(/permission denied/);
    await expect(db.pool.query('delete from webhooks.endpoints')).rejects.toThrow(/permission denied/);
  });
});
