import { describe, expect, it, jest } from '@jest/globals';
import { BusyError, inTurn, passwordLanes, Turnstile } from './turnstile.js';

const limits = { atOnce: 1, waiting: 10, waitingEach: 8, patienceMs: 60_000 };

/** Work that stands still until it is let go. */
function standing() {
  const going: (() => void)[] = [];
  const state = { running: 0, most: 0, done: 0 };
  const work = async () => {
    state.running++;
    state.most = Math.max(state.most, state.running);
    await new Promise<void>((resolve) => going.push(resolve));
    state.running--;
    state.done++;
  };
  return { state, work, letGo: () => going.shift()?.() };
}

describe('the turnstile', () => {
  it('lets in so many at once, and sends away whoever finds the queue full', async () => {
    const turnstile = new Turnstile({ ...limits, atOnce: 2, waiting: 3 });
    const { state, work, letGo } = standing();
    const all = Array.from({ length: 5 }, (_, n) => turnstile.run(`caller ${n}`, work));
    await expect(turnstile.run('late', work)).rejects.toMatchObject({ name: 'BusyError', queue: 'all' });
    while (state.done < 5) {
      letGo();
      await new Promise(setImmediate);
    }
    await Promise.all(all);
    expect(state).toEqual({ running: 0, most: 2, done: 5 });
  });

  it('lets callers take turns, each in their own order', async () => {
    const turnstile = new Turnstile(limits);
    const order: string[] = [];
    const ask = (caller: string, n: number) =>
      turnstile.run(caller, async () => {
        order.push(`${caller}${n}`);
      });
    await Promise.all([ask('a', 1), ask('a', 2), ask('a', 3), ask('a', 4), ask('b', 1), ask('b', 2), ask('c', 1)]);
    expect(order).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4']);
  });

  it('has a bound for each caller, which is nothing to the others and open again when they are through', async () => {
    const turnstile = new Turnstile({ ...limits, waitingEach: 2 });
    const { state, work, letGo } = standing();
    const all = [1, 2, 3].map(() => turnstile.run('a', work));
    await expect(turnstile.run('a', work)).rejects.toMatchObject({ name: 'BusyError', queue: 'caller' });
    all.push(turnstile.run('b', work));
    for (; state.done < 4; await new Promise(setImmediate)) letGo();
    await Promise.all(all);
    expect(await turnstile.run('a', async () => 'again')).toBe('again');
  });

  it('drops whoever has waited too long without doing their work, and goes on with the others', async () => {
    const turnstile = new Turnstile({ ...limits, patienceMs: 1 });
    const { state, work, letGo } = standing();
    const first = turnstile.run('a', work);
    const none = jest.fn(async () => {});
    for (const late of await Promise.allSettled([turnstile.run('a', none), turnstile.run('b', none)])) {
      expect(late).toMatchObject({ status: 'rejected', reason: expect.any(BusyError) });
    }
    letGo();
    await first;
    expect(await turnstile.run('b', async () => 'b')).toBe('b');
    expect([state.done, none.mock.calls.length]).toEqual([1, 0]);
  });

  it('is one of its application, and nobody queues without one', async () => {
    const [one, other] = [{ lanes: passwordLanes() }, { lanes: passwordLanes() }];
    const { state, work, letGo } = standing();
    const all = [one, one, other, {}, {}].map((deps) => inTurn(deps, { lane: 'busy', caller: 'a' }, work));
    await new Promise(setImmediate);
    expect(state.running).toBe(4);
    for (; state.done < 5; await new Promise(setImmediate)) letGo();
    await Promise.all(all);
  });

  it('goes on after work that fails', async () => {
    const turnstile = new Turnstile(limits);
    await expect(turnstile.run('a', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await turnstile.run('a', async () => 'yes')).toBe('yes');
  });
});
