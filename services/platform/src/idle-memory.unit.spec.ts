import { describe, expect, it } from '@jest/globals';
import { IdleMemory } from './idle-memory.js';

const MB = 2 ** 20;

/** A process whose memory, use and clock a test sets; a collection brings it down to 150 MB. */
function process({ rss = 250, busy = 0.01 } = {}) {
  const state = { rss, busy, now: 1_000_000, collected: 0 };
  const memory = new IdleMemory({
    rss: () => state.rss * MB,
    busy: () => state.busy,
    now: () => state.now,
    collect() {
      state.collected += 1;
      state.rss = 150;
    },
  });
  memory.start();
  memory.stop();
  return { state, memory };
}

describe('the memory of an idle server', () => {
  it('is collected once at the start', () => {
    expect(process().state.collected).toBe(1);
  });

  it.each([
    { what: 'it is idle and has grown', busy: 0.01, rss: 190, later: 60_000, collected: 2 },
    { what: 'something runs', busy: 0.1, rss: 500, later: 60_000, collected: 1 },
    { what: 'it has not grown', busy: 0.01, rss: 170, later: 60_000, collected: 1 },
    { what: 'it was just collected', busy: 0.01, rss: 500, later: 59_000, collected: 1 },
  ])('has been collected $collected times when $what', ({ busy, rss, later, collected }) => {
    const { state, memory } = process();
    Object.assign(state, { busy, rss, now: state.now + later });
    memory.look();
    expect(state.collected).toBe(collected);
  });

  it('of this process can be collected', () => {
    const memory = new IdleMemory();
    expect(() => memory.start()).not.toThrow();
    memory.stop();
  });
});
