import { describe, expect, it } from '@jest/globals';
import { Latencies } from './latencies.js';
import { spreadOf } from './statistics.js';

describe('the spread of some numbers', () => {
  it('is the middle one with the lowest and the highest', () => {
    expect(spreadOf([5, 1, 3])).toEqual({ median: 3, low: 1, high: 5 });
  });

  it('has the mean of the two in the middle of an even number', () => {
    expect(spreadOf([4, 1, 10, 2])).toEqual({ median: 3, low: 1, high: 10 });
  });

  it.each([[[]], [[1, Number.NaN]], [[Number.POSITIVE_INFINITY]]])('is refused for %p', (values) => {
    expect(() => spreadOf(values)).toThrow('No spread');
  });
});

describe('latencies', () => {
  it('keep their percentiles to three figures', () => {
    const latencies = new Latencies();
    for (let ms = 1; ms <= 1_000; ms++) latencies.add(ms);
    const { p50_ms, p99_ms, longest_ms } = latencies.sample() as { p50_ms: number; p99_ms: number; longest_ms: number };
    expect([p50_ms / 500, p99_ms / 990, longest_ms / 1_000].map((share) => Math.abs(share - 1) < 0.002)).toEqual([true, true, true]);
    expect(latencies.count).toBe(1_000);
  });

  it('show a single long one only at the end', () => {
    const latencies = new Latencies();
    for (let nth = 0; nth < 999; nth++) latencies.add(1);
    latencies.add(60_000);
    const sample = latencies.sample('wait_');
    expect(Object.keys(sample)).toEqual(['wait_p50_ms', 'wait_p99_ms', 'wait_longest_ms']);
    expect(sample.wait_p99_ms).toBeCloseTo(1, 1);
    expect(sample.wait_longest_ms).toBeGreaterThan(59_900);
  });
});
