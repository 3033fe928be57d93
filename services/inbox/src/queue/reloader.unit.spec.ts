import { describe, expect, it } from '@jest/globals';
import { Reloader } from './reloader.js';

/** Loads that end when the test says so. */
function loads() {
  const open: { done: () => void; signal: AbortSignal }[] = [];
  let started = 0;
  const work = (signal: AbortSignal) =>
    new Promise<void>((done) => {
      started++;
      open.push({ done, signal });
    });
  const until = async (count: number) => {
    while (started < count) await new Promise((later) => setTimeout(later, 1));
  };
  return { open, work, until, started: () => started };
}

describe('a reloader', () => {
  it('answers a burst with the load under way and one more', async () => {
    const { open, work, until, started } = loads();
    const reloader = new Reloader(work, 0);
    const first = reloader.now();
    for (let i = 0; i < 20; i++) reloader.soon();
    void reloader.now();
    expect(started()).toBe(1);
    open[0]?.done();
    await first;
    await until(2);
    open[1]?.done();
    await new Promise((later) => setTimeout(later, 20));
    expect(started()).toBe(2);
  });
  it('gathers news before it loads', async () => {
    const { work, until, started } = loads();
    const reloader = new Reloader(work, 5);
    for (let i = 0; i < 5; i++) reloader.soon();
    await until(1);
    await new Promise((later) => setTimeout(later, 20));
    expect(started()).toBe(1);
  });
  it('loads once more after the last news, for a list that follows late', async () => {
    let started = 0;
    const reloader = new Reloader(
      async () => {
        started++;
      },
      0,
      [30],
    );
    for (let i = 0; i < 3; i++) reloader.soon();
    while (started < 2) await new Promise((later) => setTimeout(later, 1));
    await new Promise((later) => setTimeout(later, 60));
    expect(started).toBe(2);
  });
  it('ends the load under way, and begins none, once it is closed', async () => {
    const { open, work, started } = loads();
    const reloader = new Reloader(work, 0);
    void reloader.now();
    reloader.close();
    expect(open[0]?.signal.aborted).toBe(true);
    open[0]?.done();
    reloader.soon();
    await reloader.now();
    expect(started()).toBe(1);
  });
});
