import { equalJson as equalOnServer } from '@countersign/evidence';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { equalJson } from './equal-json.js';

describe('equal JSON', () => {
  it('does not mind the order of members', () => {
    expect(equalJson({ a: 1, b: [{ c: null, d: 2 }] }, { b: [{ d: 2, c: null }], a: 1 })).toBe(true);
  });
  it.each([
    [{ a: undefined }, {}],
    [
      [1, 2],
      [2, 1],
    ],
    [{ 0: 1 }, [1]],
    [null, {}],
    ['1', 1],
    [{ a: 1 }, { b: 1 }],
  ])('tells %j from %j', (a, b) => {
    expect(equalJson(a, b)).toBe(false);
  });
  it('judges as the server does', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
        expect(equalJson(a, b)).toBe(equalOnServer(a, b));
        expect(equalJson(a, structuredClone(a))).toBe(true);
      }),
    );
  });
});
