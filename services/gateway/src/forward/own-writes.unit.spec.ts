import { describe, expect, it } from '@jest/globals';
import { OwnWrites } from './own-writes.js';

describe('OwnWrites', () => {
  it('keeps the last position of each bucket for its time, for each caller alone', () => {
    let now = 0;
    const writes = new OwnWrites(5_000, () => now);
    writes.remember('a', '10.1');
    writes.remember('a', '12.1');
    writes.remember('a', '11.1');
    writes.remember('a', '11.4');
    writes.remember('b', '99.0');
    writes.remember('a', 'nonsense');
    writes.remember('a', undefined);
    expect(writes.of('a')).toBe('12.1,11.4');
    now = 4_000;
    writes.remember('a', '20.1');
    now = 5_000;
    expect(writes.of('a')).toBe('20.1');
    now = 9_000;
    expect(writes.of('a')).toBeUndefined();
    expect(writes.of('nobody')).toBeUndefined();
  });

  it('forgets who wrote longest ago when too many write', () => {
    const writes = new OwnWrites(5_000, () => 0);
    for (let i = 0; i < 10_001; i++) writes.remember(`caller-${i}`, '1.1');
    expect(writes.of('caller-0')).toBeUndefined();
    expect(writes.of('caller-1')).toBe('1.1');
  });
});
