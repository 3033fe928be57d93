import type { Problem } from '@countersign/http';
import { describe, expect, it } from '@jest/globals';
import { rangeToVerify, VERIFY_RANGE } from './verify-range.js';

const HEAD = 250_000;
const refused = (query: { from?: number; to?: number }, head = HEAD): string | undefined => {
  try {
    rangeToVerify(query, head);
    return undefined;
  } catch (error) {
    return (error as Problem).code;
  }
};

describe('the range a request verifies', () => {
  it('is the newest events when it names none', () => {
    expect(rangeToVerify({}, HEAD)).toEqual({ from: HEAD - VERIFY_RANGE + 1, to: HEAD });
    expect(rangeToVerify({}, 7)).toEqual({ from: 1, to: 7 });
    expect(rangeToVerify({}, 0)).toEqual({ from: 1, to: 0 });
  });

  it('ends at the head', () => expect(rangeToVerify({ from: HEAD - 1, to: HEAD + 50 }, HEAD)).toEqual({ from: HEAD - 1, to: HEAD }));

  it('has a bound', () => {
    expect(rangeToVerify({ from: 1, to: VERIFY_RANGE }, HEAD)).toEqual({ from: 1, to: VERIFY_RANGE });
    expect(refused({ from: 1, to: VERIFY_RANGE + 1 })).toBe('range_too_large');
    expect(refused({ from: 1 })).toBe('range_too_large');
  });

  it('is not empty', () => {
    expect(refused({ from: 3, to: 2 })).toBe('invalid_request');
    expect(refused({ from: HEAD + 1 })).toBe('invalid_request');
  });
});
