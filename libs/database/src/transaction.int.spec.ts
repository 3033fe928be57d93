import { type TestDatabase, testDatabase } from '@countersign/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createPool, inTransaction } from './index.js';

let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase();
  await db.ownerPool.query(
    'create table public.counters (id integer primary key, n integer not null); insert into counters values (1, 0), (2, 0)',
  );
});
afterAll(() => db.close());

describe('inTransaction', () => {
  it('commits what resolves and takes back what throws', async () => {
    expect(
      await inTransaction(db.ownerPool, async (tx) => (await tx.query('update counters set n = n + 1 where id = 1 returning n')).rows[0].n),
    ).toBe(1);
    const failing = inTransaction(db.ownerPool, async (tx) => {
      await tx.query('update counters set n = 100 where id = 1');
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect((await db.ownerPool.query('select n from counters where id = 1')).rows[0].n).toBe(1);
  });

  it('runs again after a deadlock, until both come through', async () => {
    let runs = 0;
    let held = 0;
    const both = Promise.withResolvers<void>();
    const crossing = (first: number, second: number) =>
      inTransaction(db.ownerPool, async (tx) => {
        runs += 1;
        await tx.query('update counters set n = n + 1 where id = $1', [first]);
        // Each holds what the other will want: only then is it a deadlock.
        if (++held === 2) both.resolve();
        await both.promise;
        await tx.query('update counters set n = n + 1 where id = $1', [second]);
      });
    await Promise.all([crossing(1, 2), crossing(2, 1)]);
    expect(runs).toBeGreaterThan(2);
    expect((await db.ownerPool.query('select n from counters order by id')).rows.map((row) => row.n)).toEqual([3, 2]);
  });

  it('does not take a swallowed error for success', async () => {
    const swallowing = inTransaction(db.ownerPool, async (tx) => {
      await tx.query('select 1 / 0').catch(() => {});
    });
    await expect(swallowing).rejects.toThrow('nothing was committed');
  });

  it('gives no connection back in the middle of a transaction', async () => {
    const pool = createPool({ connectionString: db.ownerUrl, max: 1 });
    const broken = inTransaction(pool, async (tx) => {
      await tx.query('select pg_terminate_backend(pg_backend_pid())');
    });
    await expect(broken).rejects.toThrow();
    expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
    await pool.end();
  });
});

describe('createPool', () => {
  it('reads bigint as a number while it is exact, and runs under its role', async () => {
    const { rows } = await db.pool.query(
      'select 9007199254740991::bigint as a, 9007199254740993::bigint as b, current_user as role, array[1::bigint] as c',
    );
    expect(rows[0]).toMatchObject({ a: 9007199254740991, b: '9007199254740993', role: 'countersign_app' });
    expect(() => createPool({ connectionString: db.ownerUrl, role: 'x -c log_statement=all' })).toThrow('not a role name');
  });

  it('survives its connections being cut', async () => {
    await db.pool.query('select 1');
    await db.ownerPool.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'test application' and datname = current_database()",
    );
    await expect(
      (async () => {
        for (let i = 0; i < 50; i++) {
          const answer = await db.pool.query('select 1 as one').catch(() => null);
          if (answer) return answer.rows[0].one;
        }
      })(),
    ).resolves.toBe(1);
  });
});
