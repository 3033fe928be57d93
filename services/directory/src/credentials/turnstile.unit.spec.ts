import { describe, expect, it } from '@jest/globals';
import { BusyError, inTurn, passwordLanes, Turnstile } from './turnstile.js';

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
  it('lets in so many at once, the others in their order, and sends away whoever finds the queue full', async () => {
    const turnstile = new Turnstile({ atOnce: 2, waiting: 3 });
    const { state, work, letGo } = standing();
    const all = Array.from({ length: 5 }, () => turnstile.run(work));
    await expect(turnstile.run(work)).rejects.toThrow(BusyError);
    while (state.done < 5) {
      letGo();
      await new Promise(setImmediate);
    }
    await Promise.all(all);
    expect(state).toEqual({ running: 0, most: 2, done: 5 });
  });

  it('is one of its application, and nobody queues without one', async () => {
    const [one, other] = [{ lanes: passwordLanes() }, { lanes: passwordLanes() }];
    const { state, work, letGo } = standing();
    const all = [one, one, other, {}, {}].map((deps) => inTurn(deps, 'busy', work));
    await new Promise(setImmediate);
    expect(state.running).toBe(4);
    for (; state.done < 5; await new Promise(setImmediate)) letGo();
    await Promise.all(all);
  });

  it('goes on after work that fails', async () => {
    const turnstile = new Turnstile({ atOnce: 1, waiting: 1 });
    await expect(turnstile.run(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await turnstile.run(async () => 'yes')).toBe('yes');
  });
});
