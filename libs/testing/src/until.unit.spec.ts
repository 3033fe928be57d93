import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { until } from './until.js';

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

describe('until', () => {
  it('answers with what held, however long it took while something changed', async () => {
    let seen = 0;
    const done = until(
      () => seen,
      (count) => count === 5,
    );
    for (; seen < 5; seen++) await jest.advanceTimersByTimeAsync(29_000);
    await jest.advanceTimersByTimeAsync(100);
    expect(await done).toBe(5);
  });

  it('gives up with what it saw last once nothing changes', async () => {
    const done = expect(
      until(
        () => ({ stuck: true }),
        () => false,
      ),
    ).rejects.toThrow('Waited in vain; last seen: {"stuck":true}');
    await jest.advanceTimersByTimeAsync(31_000);
    await done;
  });
});
