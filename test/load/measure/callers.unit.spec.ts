import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { closedLoop, openLoop } from './callers.js';

describe('a closed loop', () => {
  it('has each caller ask again only when it is answered', async () => {
    const busy = new Map<number, number>();
    let most = 0;
    const sample = await closedLoop(3, 0.05, async (caller) => {
      busy.set(caller, (busy.get(caller) ?? 0) + 1);
      most = Math.max(most, busy.get(caller) ?? 0);
      await sleep(1);
      busy.set(caller, (busy.get(caller) ?? 0) - 1);
    });
    expect([...busy.keys()].sort()).toEqual([0, 1, 2]);
    expect(most).toBe(1);
    expect(sample.per_s).toBeGreaterThan(0);
  });

  it('fails with the first call that fails', async () => {
    await expect(closedLoop(2, 1, () => Promise.reject(new Error('refused')))).rejects.toThrow('refused');
  });
});

describe('an open loop', () => {
  it('begins every call although none is answered, and counts what each waited from when it was due', async () => {
    const started: number[] = [];
    let answer = () => {};
    const held = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const measured = openLoop(200, 0.1, async (nth) => {
      started.push(nth);
      if (started.length === 20) answer();
      await held;
    });
    const latencies = await measured;
    expect(started).toEqual([...Array(20).keys()]);
    expect(latencies.count).toBe(20);
    // The first was due 95 ms before the last began, and was held that long.
    expect(latencies.sample().longest_ms).toBeGreaterThan(90);
  });

  it('fails with the first call that fails, once all have ended', async () => {
    let ended = 0;
    const calls = openLoop(200, 0.02, async (nth) => {
      await sleep(5);
      ended++;
      if (nth === 1) throw new Error('refused');
    });
    await expect(calls).rejects.toThrow('refused');
    expect(ended).toBe(4);
  });
});
