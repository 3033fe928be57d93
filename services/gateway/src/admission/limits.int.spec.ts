import { Problem } from '@countersign/http';
import { defaultSets, type TestDatabase, testDatabase } from '@countersign/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { GATEWAY_MIGRATIONS } from '../migrations.js';
import { KeyLimits, leaseSize } from './limits.js';

const HOUR = 3_600_000;

describe('the hour of a key', () => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await testDatabase({ sets: [...defaultSets(), GATEWAY_MIGRATIONS] });
  });
  afterAll(() => db.close());

  const tries = async (limits: KeyLimits, key: string, limit: number | null, times: number) => {
    const outcomes = await Promise.allSettled(Array.from({ length: times }, () => limits.count(key, limit)));
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'rate_limit_exceeded' });
    return outcomes.filter(({ status }) => status === 'fulfilled').length;
  };

  it('Q2 serves the limit exactly, also to a burst, and says when to come back', async () => {
    const limits = new KeyLimits(db.pool);
    expect(await tries(limits, 'key_burst', 250, 400)).toBe(250);
    const refused = await limits.count('key_burst', 250).catch((error: Problem) => error);
    const seconds = Number((refused as Problem).options.headers?.['Retry-After']);
    expect(seconds).toBeGreaterThan(3_500);
    expect(seconds).toBeLessThanOrEqual(3_600);
  });

  it('Q2 never serves more than the limit at several gateways together, and little less', async () => {
    const gateways = [new KeyLimits(db.pool), new KeyLimits(db.pool), new KeyLimits(db.pool)];
    const served = await Promise.all(gateways.map((gateway) => tries(gateway, 'key_many', 200, 100)));
    const total = served.reduce((a, b) => a + b);
    expect(total).toBeLessThanOrEqual(200);
    expect(total).toBeGreaterThanOrEqual(200 - 3 * leaseSize(200));
  });

  it('Q2 is exact for a small limit at several gateways', async () => {
    const gateways = [new KeyLimits(db.pool), new KeyLimits(db.pool)];
    const served = await Promise.all(gateways.map((gateway) => tries(gateway, 'key_small', 7, 10)));
    expect(served.reduce((a, b) => a + b)).toBe(7);
  });

  it('Q3 begins anew after the hour, also at a gateway that had leased before', async () => {
    let now = Date.now();
    const limits = new KeyLimits(db.pool, () => now);
    expect(await tries(limits, 'key_next', 3, 5)).toBe(3);
    await db.pool.query("update gateway.rate_limits set expire = $1 where key = 'key:key_next'", [now - 1]);
    now += HOUR + 1;
    expect(await tries(limits, 'key_next', 3, 5)).toBe(3);
  });

  it('keeps no windows that ended long ago', async () => {
    const limits = new KeyLimits(db.pool);
    for (const key of ['key_old', 'key_over']) expect(await tries(limits, key, 3, 1)).toBe(1);
    const { rows: ended } = await db.pool.query('select (extract(epoch from clock_timestamp()) * 1000)::bigint - 60000 as ms');
    const end = (key: string, ms: number) => db.pool.query('update gateway.rate_limits set expire = $2 where key = $1', [`key:${key}`, ms]);
    await end('key_old', ended[0].ms - HOUR);
    await end('key_over', ended[0].ms);
    expect(await tries(limits, 'key_new', 3, 1)).toBe(1);
    const { rows } = await db.pool.query("select key from gateway.rate_limits where key in ('key:key_old', 'key:key_over')");
    expect(rows).toEqual([{ key: 'key:key_over' }]);
  });

  it.each([HOUR, -HOUR])('Q3 is the same hour at a gateway whose clock is off by %i ms', async (off) => {
    const key = `key_clock_${off > 0}`;
    const limits = new KeyLimits(db.pool);
    expect(await tries(limits, key, 7, 5)).toBe(5);
    const real = Date.now;
    Date.now = () => real() + off;
    try {
      expect(await tries(new KeyLimits(db.pool), key, 7, 5)).toBe(2);
    } finally {
      Date.now = real;
    }
    expect(await tries(limits, key, 7, 5)).toBe(0);
    const refused = await limits.count(key, 7).catch((error: Problem) => error);
    expect(Number((refused as Problem).options.headers?.['Retry-After'])).toBeLessThanOrEqual(3_600);
  });

  it('Q1 costs a key without a limit no query, and Q3 a key that used its hour up none either', async () => {
    let queries = 0;
    const counting = new Proxy(db.pool, {
      get(pool, name) {
        if (name === 'query') {
          queries++;
          return pool.query.bind(pool);
        }
        return Reflect.get(pool, name);
      },
    });
    const limits = new KeyLimits(counting);
    expect(await tries(limits, 'key_free', null, 50)).toBe(50);
    expect(queries).toBe(0);
    await tries(limits, 'key_spent', 2, 3);
    const before = queries;
    expect(before).toBeGreaterThan(0);
    expect(await tries(limits, 'key_spent', 2, 50)).toBe(0);
    expect(queries).toBe(before);
  });
});
