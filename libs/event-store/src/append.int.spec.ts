import { type TestDatabase, testDatabase } from '@countersign/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId, PostgresEventStore } from './index.js';

let db: TestDatabase;
let store: PostgresEventStore;
const project = newId('prj');
beforeAll(async () => {
  db = await testDatabase();
  store = new PostgresEventStore({ pool: db.pool, writer: 'test', categories: { review: 'rev', template: 'tpl' } });
});
afterAll(async () => {
  await store.close();
  await db.close();
});

describe('append', () => {
  it('stores and reads back', async () => {
    const stream = newId('rev');
    const result = await store.append({
      streams: [
        {
          stream,
          project,
          expectedVersion: 0,
          events: [
            { type: 'a', body: { x: 1 } },
            { type: 'b', body: { y: 'ü' } },
          ],
        },
      ],
      meta: {},
    });
    expect(result.status).toBe('appended');
    const read = await store.readStream(stream);
    expect(read.events).toEqual(result.status === 'appended' ? result.streams[0]?.events : []);
    expect(await store.append({ streams: [{ stream, project, expectedVersion: 1, events: [{ type: 'a', body: {} }] }], meta: {} })).toEqual(
      {
        status: 'conflict',
        stream,
        currentVersion: 2,
      },
    );
  });
});
