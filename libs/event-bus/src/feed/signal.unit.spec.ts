import { describe, expect, it } from '@jest/globals';
import { Signal } from './signal.js';

describe('Signal', () => {
  it('keeps a notification that comes while nobody waits, once', async () => {
    const signal = new Signal();
    signal.notify();
    signal.notify();
    expect(await signal.wait(60_000)).toBe(true);
    expect(await signal.wait(0)).toBe(false);
  });

  it('wakes who waits, and tells a notification from the end of the time', async () => {
    const signal = new Signal();
    const waiting = signal.wait(60_000);
    signal.notify();
    expect(await waiting).toBe(true);
    expect(await signal.wait(1)).toBe(false);
  });
});
