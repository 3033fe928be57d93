import { type TestDatabase, testDatabase } from '@countersign/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId, PostgresEventStore, uuidOf } from '../index.js';
import { appended, CATEGORIES, one } from './append.fixture.js';

let db: TestDatabase;
let store: PostgresEventStore;

beforeAll(async () => {
  db = await testDatabase();
  store = new PostgresEventStore({ pool: db.pool, writer: 'test', categories: CATEGORIES });
});
afterAll(async () => {
  await store.close();
  await db.close();
});

describe('the time of an append', () => {
  it('is judged by the database’s clock, to the millisecond', async () => {
    const stream = newId('rev');
    const { time } = appended(await store.append(one(stream, 0)));
    expect(await store.append(one(stream, 1, {}, { notAfter: time }))).toMatchObject({ status: 'too_late' });
    const hourLater = new Date(Date.parse(time) + 3_600_000).toISOString();
    const early = await store.append(one(stream, 1, {}, { notBefore: hourLater }));
    expect(early.status).toBe('too_early');
    expect('now' in early && Date.parse(early.now) < Date.parse(hourLater)).toBe(true);
    appended(await store.append(one(stream, 1, {}, { notAfter: hourLater, notBefore: time })));

    await db.advanceClock(3_600);
    const late = await store.append(one(stream, 2, {}, { notAfter: hourLater }));
    expect(late.status).toBe('too_late');
    expect('now' in late && Date.parse(late.now) >= Date.parse(hourLater)).toBe(true);
    expect(Date.parse(appended(await store.append(one(stream, 2, {}, { notBefore: hourLater }))).time)).toBeGreaterThanOrEqual(
      Date.parse(hourLater),
    );
  });

  it('never dates an event before the one at the position before it, whatever the clock does', async () => {
    await db.advanceClock(7_200);
    const { time } = appended(await store.append(one(newId('rev'), 0)));
    await db.advanceClock(-7_200);
    const after = appended(await store.append(one(newId('rev'), 0)));
    expect(after.time).toBe(time);
    // And a bound is held against that later time, not against the clock that went back.
    expect(await store.append(one(newId('rev'), 0, {}, { notAfter: time }))).toMatchObject({ status: 'too_late', now: time });
    await db.advanceClock(7_200);
  });

  it('keeps timers in step: schedules, replaces, cancels', async () => {
    const stream = newId('rev');
    const timers = async () =>
      (
        await db.pool.query(
          `select kind, (extract(epoch from due_at) * 1000)::bigint as due, generation, category, attempts, parked_reason from event_store.timers
           where stream = $1 order by kind`,
          [uuidOf(stream)],
        )
      ).rows;
    const first = appended(
      await store.append(
        one(
          stream,
          0,
          {},
          {
            schedule: [
              { stream, kind: 'expiry', due: { inSeconds: 90.5 } },
              { stream, kind: 'reminder', due: { at: '2030-01-02T03:04:05.678Z' } },
            ],
          },
        ),
      ),
    );
    expect(await timers()).toMatchObject([
      { kind: 'expiry', due: Date.parse(first.time) + 90_500, generation: first.position, category: 'review', attempts: 0 },
      { kind: 'reminder', due: Date.parse('2030-01-02T03:04:05.678Z') },
    ]);
    await db.pool.query(
      "update event_store.timers set attempts = 3, parked_at = event_store.now(), parked_reason = 'x' where stream = $1",
      [uuidOf(stream)],
    );
    const second = appended(
      await store.append(
        one(
          stream,
          1,
          {},
          {
            schedule: [{ stream, kind: 'expiry', due: { inSeconds: 5 } }],
            cancel: [
              { stream, kind: 'reminder' },
              { stream, kind: 'none' },
            ],
          },
        ),
      ),
    );
    expect(await timers()).toEqual([
      {
        kind: 'expiry',
        due: Date.parse(second.time) + 5_000,
        generation: second.position,
        category: 'review',
        attempts: 0,
        parked_reason: null,
      },
    ]);
    expect((await store.append(one(stream, 1, {}, { cancel: [{ stream, kind: 'expiry' }] }))).status).toBe('conflict');
    expect(await timers()).toHaveLength(1);
  });
});
