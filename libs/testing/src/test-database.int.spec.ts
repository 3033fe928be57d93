import { describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { testDatabase } from './index.js';

describe('a test’s database', () => {
  it('is its own, migrated, and gone afterwards', async () => {
    const [a, b] = await Promise.all([testDatabase(), testDatabase()]);
    await a.ownerPool.query('create table only_here (id integer)');
    await expect(b.ownerPool.query('select from only_here')).rejects.toMatchObject({ code: '42P01' });
    expect((await b.pool.query('select current_user as role, position from event_store.head')).rows).toEqual([
      { role: 'countersign_app', position: 0 },
    ]);
    const throughUrl = new pg.Client({ connectionString: a.appUrl });
    await throughUrl.connect();
    expect((await throughUrl.query('select current_user as role')).rows).toEqual([{ role: 'countersign_app' }]);
    await throughUrl.end();
    await Promise.all([a.close(), b.close()]);
    const gone = new pg.Client({ connectionString: a.ownerUrl });
    await expect(gone.connect()).rejects.toMatchObject({ code: '3D000' });
  });

  it('has a clock that goes forward when told', async () => {
    const db = await testDatabase();
    const ahead = async () =>
      (await db.pool.query('select extract(epoch from event_store.now() - clock_timestamp())::integer as s')).rows[0].s;
    expect(await ahead()).toBe(0);
    await db.advanceClock(86_400);
    await db.advanceClock(60);
    expect(await ahead()).toBe(86_460);
    await db.close();
  });

  it('fails the test that leaves a connection open', async () => {
    const db = await testDatabase();
    const left = new pg.Client({ connectionString: db.ownerUrl, application_name: 'the leak' });
    left.on('error', () => {});
    await left.connect();
    await left.query('select 42');
    await expect(db.close()).rejects.toThrow(/left open: "the leak" idle, last: select 42/);
  });
});
