import { type TestDatabase, testDatabase } from '@countersign/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Decision, type Fold, handle, newId, PostgresEventStore } from './index.js';

/** A till: coins go in, and come out while there are any. */
type TillEvent =
  | { type: 'opened'; body: { limit: number } }
  | { type: 'paid'; body: { amount: number } }
  | { type: 'lapsed'; body: Record<string, never> };
interface Till {
  open: boolean;
  sum: number;
  lapsed: boolean;
}
type TillCode = 'closed' | 'too_late' | 'name_taken' | 'key_reused';

const fold: Fold<Till, TillEvent> = {
  initial: () => ({ open: false, sum: 0, lapsed: false }),
  evolve(till, event) {
    switch (event.type) {
      case 'opened':
        return { ...till, open: true };
      case 'paid':
        return { ...till, sum: till.sum + event.body.amount };
      case 'lapsed':
        return { ...till, lapsed: true };
    }
  },
};
const open = (till: Till): Decision<TillEvent, TillCode> =>
  till.open ? { events: [] } : { events: [{ type: 'opened', body: { limit: 10 } }] };
const pay =
  (amount: number) =>
  (till: Till): Decision<TillEvent, TillCode> =>
    till.open
      ? { events: [{ type: 'paid', body: { amount } }] }
      : { events: [], refusal: { code: 'closed', message: 'The till is closed.' } };

const project = newId('prj');
let db: TestDatabase;
let store: PostgresEventStore;
beforeAll(async () => {
  db = await testDatabase();
  store = new PostgresEventStore({ pool: db.pool, writer: 'test', categories: { review: 'rev' } });
});
afterAll(async () => {
  await store.close();
  await db.close();
});

type Command = Parameters<typeof handle<Till, TillEvent, TillCode>>[1];
const run = (stream: string, decide: Command['decide'], extra: Partial<Command> = {}, on: Parameters<typeof handle>[0] = store) =>
  handle<Till, TillEvent, TillCode>(on, { stream, project, fold, meta: {}, decide, ...extra });

describe('handle', () => {
  it('loads, decides, appends, and gives the state after', async () => {
    const stream = newId('rev');
    const opened = await run(stream, open);
    expect(opened).toMatchObject({ state: { open: true, sum: 0 }, version: 1, repeated: false, events: [{ type: 'opened', version: 1 }] });
    const paid = await run(stream, pay(5));
    expect(paid).toMatchObject({ state: { sum: 5 }, version: 2, position: opened.position + 1 });
    expect(paid.refusal).toBeUndefined();
  });

  it('appends nothing when it is already so, and tells a refusal', async () => {
    const stream = newId('rev');
    expect(await run(stream, pay(1))).toMatchObject({ events: [], version: 0, position: 0, refusal: { code: 'closed' } });
    const { position, bucket } = await run(stream, open);
    const again = await run(stream, open);
    expect(again).toMatchObject({ events: [], version: 1, repeated: false });
    expect(again.refusal).toBeUndefined();
    // Where what is already so was written: whoever asks again may never have had the first answer.
    expect(position).toBeGreaterThan(0);
    expect([again.position, again.bucket]).toEqual([position, bucket]);
    // A refusal does not tell that there is a stream.
    const refusal = { code: 'closed' as const, message: 'Not for you.' };
    expect(await run(stream, () => ({ events: [], refusal }))).toMatchObject({ position: 0 });
  });

  it('records what comes with a refusal', async () => {
    const stream = newId('rev');
    const result = await run(stream, () => ({
      events: [{ type: 'lapsed', body: {} }],
      refusal: { code: 'too_late', message: 'Too late.' },
    }));
    expect(result).toMatchObject({ state: { lapsed: true }, version: 1, refusal: { code: 'too_late' } });
  });

  it('decides again when the stream moved meanwhile', async () => {
    const stream = newId('rev');
    await run(stream, open);
    const together = 5;
    let [loaded, decided] = [0, 0];
    let begin = () => {};
    const allLoaded = new Promise<void>((resolve) => {
      begin = resolve;
    });
    // Nobody appends before all have read the same stream.
    const meeting = Object.create(store, {
      readStream: {
        async value(...asked: Parameters<PostgresEventStore['readStream']>) {
          const found = await store.readStream(...asked);
          if (++loaded === together) begin();
          return found;
        },
      },
      append: {
        async value(request: Parameters<PostgresEventStore['append']>[0]) {
          await allLoaded;
          return store.append(request);
        },
      },
    }) as PostgresEventStore;
    const payOne: Command['decide'] = (till) => {
      decided += 1;
      return pay(1)(till);
    };
    const results = await Promise.all(Array.from({ length: together }, () => run(stream, payOne, {}, meeting)));
    expect(decided).toBeGreaterThan(5);
    expect(results.map((r) => r.version).sort()).toEqual([2, 3, 4, 5, 6]);
    expect((await store.readStream(stream)).version).toBe(6);
  });

  it('gives up with an error when the stream never rests', async () => {
    const stream = newId('rev');
    await run(stream, open);
    const restless = {
      ...({} as PostgresEventStore),
      readStream: store.readStream.bind(store),
      async append(request: Parameters<PostgresEventStore['append']>[0]) {
        await store.append({
          streams: [{ stream, project, expectedVersion: 'any', events: [{ type: 'paid', body: { amount: 1 } }] }],
          meta: {},
        });
        return store.append(request);
      },
    } as unknown as PostgresEventStore;
    await expect(handle(restless, { stream, project, fold, meta: {}, decide: pay(1) })).rejects.toThrow('moved during all 6 attempts');
  });

  it('judges again when the clock passed a bound while it decided', async () => {
    const stream = newId('rev');
    await run(stream, open);
    const deadline = new Date(Date.parse((await store.head()).now) + 3_600_000).toISOString();
    expect(await run(stream, (till) => ({ ...pay(1)(till), notAfter: deadline }))).toMatchObject({ state: { sum: 1 }, version: 2 });
    // The hour passes between the decision and the append.
    const slow = {
      readStream: store.readStream.bind(store),
      async append(request: Parameters<PostgresEventStore['append']>[0]) {
        if (request.notAfter) await db.advanceClock(3_600);
        return store.append(request);
      },
    } as unknown as PostgresEventStore;
    const late = await handle<Till, TillEvent, TillCode>(slow, {
      stream,
      project,
      fold,
      meta: {},
      decide: (till, now) =>
        now >= deadline
          ? { events: [{ type: 'lapsed', body: {} }], refusal: { code: 'too_late', message: 'Too late.' } }
          : { ...pay(1)(till), notAfter: deadline },
    });
    expect(late).toMatchObject({ state: { sum: 1, lapsed: true }, refusal: { code: 'too_late' } });
  });

  it('answers a repeated command with what the first one led to', async () => {
    const [first, second] = [newId('rev'), newId('rev')];
    const idempotency = { scope: project, key: 'k', inputHash: 'h' };
    const opened = await run(first, open, { idempotency });
    expect(await run(second, open, { idempotency })).toMatchObject({
      repeated: true,
      version: 1,
      state: { open: true },
      position: opened.position,
      events: [],
    });
    const other = { idempotency: { ...idempotency, inputHash: 'other' } };
    await expect(run(second, open, other)).rejects.toThrow('names no refusal');
    const refused = await run(second, open, { ...other, onKeyReused: (stream) => ({ code: 'key_reused', message: stream }) });
    expect(refused).toMatchObject({ refusal: { code: 'key_reused', message: first }, events: [] });
  });

  it('refuses a key another stream holds, in the caller’s words', async () => {
    const [first, second] = [newId('rev'), newId('rev')];
    const reserving = (till: Till) => ({ ...open(till), reserve: ['till/main'] });
    await run(first, reserving);
    await expect(run(second, reserving)).rejects.toThrow('names no refusal');
    const refused = await run(second, reserving, { onReserved: (key, holder) => ({ code: 'name_taken', message: `${key} ${holder}` }) });
    expect(refused).toMatchObject({ refusal: { code: 'name_taken', message: `till/main ${first}` }, version: 0 });
  });
});
