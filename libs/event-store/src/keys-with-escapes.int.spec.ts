import { testDatabase } from '@countersign/testing';
import { describe, expect, it } from '@jest/globals';
import { newId, PostgresEventStore } from './index.js';

describe('keys with escapes', () => {
  it('are read back as they were appended, whatever keys were read before', async () => {
    const db = await testDatabase();
    const store = new PostgresEventStore({ pool: db.pool, writer: 'test', categories: { review: 'rev' } });
    const pairs = [
      ['\\', '"'],
      ['\\\\', '\\"'],
      ['\\u', '\\"'],
    ] as const;
    const bodies = pairs.flatMap(([earlier, later], index) => {
      // A key of its own in front makes a shape nobody else uses.
      const shaped = (key: string) => ({ [` ${index}`]: 0, [key]: 1 });
      return [shaped(earlier), shaped(earlier), shaped(later)];
    });
    const stream = newId('rev');
    const events = bodies.map((body) => ({ type: 'review.requested', body }));
    await store.append({ streams: [{ stream, project: newId('prj'), expectedVersion: 0, events }], meta: {} });
    expect((await store.readStream(stream)).events.map(({ body }) => body)).toEqual(bodies);
    expect((await store.readAll({ after: 0, limit: 100 })).map(({ body }) => body)).toEqual(bodies);

    for (const body of bodies) {
      const { rows } = await db.pool.query('select $1::json as plain, $1::jsonb as binary', [JSON.stringify(body)]);
      expect(rows[0]).toEqual({ plain: body, binary: body });
    }
    await store.close();
    await db.close();
  });
});
