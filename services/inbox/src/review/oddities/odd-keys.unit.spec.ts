import { describe, expect, it } from '@jest/globals';
import { oddities } from './odd-keys.js';

describe('a key that may be taken for another', () => {
  it.each([
    ['', ['This key is empty']],
    [' to', ['This key contains blanks: U+0020', 'This key looks like “to”, and is another one']],
    ['to\u00a0', ['This key contains blanks: U+00A0', 'This key looks like “to”, and is another one']],
    ['tо', ['This key looks like “to”, and is another one']],
    ['то', ['This key looks like “to”, and is another one']],
    ['TO', ['This key looks like “to”, and is another one']],
    ['t\u200bo', ['This key looks like “to”, and is another one']],
    ['ｔｏ', ['This key looks like “to”, and is another one']],
    ['a\u3000b', ['This key contains blanks: U+3000']],
    ['\u00a0', ['This key contains blanks: U+00A0']],
  ])('%j is pointed out', (key, told) => {
    expect(oddities(key, ['to', 'subject', key])).toEqual(told);
  });
  it.each(['to', 'cc', 'internal_ref', 'two words', 'получатель'])('%j is not', (key) => {
    expect(oddities(key, ['to', 'subject', key])).toEqual([]);
  });
});
