import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { duplicateKey } from './duplicate-key.js';

describe('a key that is there twice', () => {
  it.each([
    ['{"a":1,"a":2}', 'a'],
    ['{"a":1,"a":1}', 'a'],
    ['{"a":1,"b":{"a":2},"\\u0061":3}', 'a'],
    ['[{"x":[{"y":"}"},{"y":1,"z":":","y":2}]}]', 'y'],
    ['{"":1,"":2}', ''],
    ['{"a\\"":1,"a\\"" :2}', 'a"'],
  ])('of %s is found: %j', (text, key) => {
    expect(duplicateKey(text)).toBe(key);
  });
  it.each(['{"a":{"a":{"a":1}},"b":["a","a"]}', '[{"a":1},{"a":1}]', '{"a":"\\"a\\":1,\\"a\\":2"}', '"a"', '{"a":"a","A":1}'])(
    'is none of %s',
    (text) => {
      expect(duplicateKey(text)).toBeNull();
    },
  );
  it('is never found in what was written from a value', () => {
    fc.assert(fc.property(fc.json(), (text) => expect(duplicateKey(text)).toBeNull()));
  });
});
