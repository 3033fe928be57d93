/** The low water of a claim (K23): it may spare work, and never hide a row. */
import { idOf, newId, uuidOf } from '@countersign/event-store';
import { type TestDatabase, testDatabase } from '@countersign/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { DueRows } from './due-rows.js';

let db: TestDatabase;
let rows: DueRows;
beforeAll(async () => {
  db = await testDatabase();
});
afterAll(() => db.close());
beforeEach(async () => {
  await db.ownerPool.query('delete from event_store.timers');
  rows = new DueRows(db.pool, { review: 'rev' }, null);
});

/** Rows that fell due so long ago, in seconds; as appends leave them. */
async function schedule(...ago: number[]): Promise<string[]> {
  const { rows: made } = await db.ownerPool.query<{ stream: string }>(
    `insert into event_store.timers (stream, category, kind, project, due_at, generation)
     select gen_random_uuid(), 'review', 'expiry', $2, event_store.now() - ago * interval '1 second', 1 from unnest($1::float8[]) ago
     returning stream`,
    [ago, uuidOf(newId('prj'))],
  );
  return made.map(({ stream }) => idOf('rev', stream));
}
const claim = async () => (await rows.claim(100, 10_000)).due;

describe('a claim', () => {
  it('finds what is scheduled after it, though it is due before what is left', async () => {
    await schedule(-3_600);
    expect(await claim()).toEqual([]);
    const [late] = await schedule(30);
    expect((await claim()).map(({ stream }) => stream)).toEqual([late]);
  });

  it('finds a row again whose lease has ended, however old it is', async () => {
    const [old] = await schedule(86_400);
    for (let n = 0; n < 3; n++) {
      const [taken, ...others] = await claim();
      expect([taken?.stream, others]).toEqual([old, []]);
      if (taken) await rows.putOff(taken, 0, false);
    }
  });

  it('finds a row at once that was parked and is not any more', async () => {
    const [old] = await schedule(86_400);
    const [taken] = await claim();
    if (!taken) throw new Error('Nothing was due.');
    await rows.park(taken, 'no');
    for (let n = 0; n < 2; n++) expect(await claim()).toEqual([]);
    expect(await rows.unpark(taken.stream, taken.kind)).toBe(true);
    expect((await claim()).map(({ stream }) => stream)).toEqual([old]);
  });

  it('does not look again where everything has fired', async () => {
    await schedule(...Array.from({ length: 50 }, (_, n) => 3_600 + n));
    await rows.remove(await claim());
    await claim();
    // A row that no append would leave, to see where the next claim begins.
    await schedule(7_200);
    expect(await claim()).toEqual([]);
    expect(await new DueRows(db.pool, { review: 'rev' }, null).claim(100, 0)).toMatchObject({ due: [{ kind: 'expiry' }] });
  });
});
