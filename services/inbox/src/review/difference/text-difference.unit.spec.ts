import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type Piece, textDifference } from './text-difference.js';

const side = (pieces: readonly Piece[], without: Piece['kind']) =>
  pieces
    .filter(({ kind }) => kind !== without)
    .map(({ text }) => text)
    .join('');
const told = (before: string, after: string) =>
  textDifference(before, after).map(({ kind, text }) => `${{ same: '=', removed: '-', added: '+' }[kind]}${text}`);

describe('the difference of two texts', () => {
  it('is told word by word', () => {
    expect(told('We have refunded 129.50 EUR', 'We have refunded 119.50 EUR')).toEqual([
      '=We have refunded ',
      '-129.50',
      '+119.50',
      '= EUR',
    ]);
  });
  it('takes a word or two inside a change as part of it', () => {
    expect(told('please pay by friday now', 'kindly pay on monday now')).toEqual([
      '-please pay by friday',
      '+kindly pay on monday',
      '= now',
    ]);
  });
  it('is nothing for two empty texts, and one piece for equal ones', () => {
    expect(told('', '')).toEqual([]);
    expect(told('a b', 'a b')).toEqual(['=a b']);
  });
  it('says all of a text that came or went', () => {
    expect(told('', 'new')).toEqual(['+new']);
    expect(told('old', '')).toEqual(['-old']);
  });
  it('holds both texts whole, whatever they are', () => {
    const words = fc
      .array(fc.constantFrom('a', 'bb', ' ', '\n', '129.5', 'über', '👩‍👧', '.'), { maxLength: 40 })
      .map((list) => list.join(''));
    fc.assert(
      fc.property(words, words, (before, after) => {
        const pieces = textDifference(before, after);
        expect(side(pieces, 'added')).toBe(before);
        expect(side(pieces, 'removed')).toBe(after);
        expect(pieces.every(({ text }) => text !== '')).toBe(true);
      }),
    );
  });
  it('goes by lines where words are too many, and by the whole where lines are', () => {
    const many = (mark: string) =>
      Array.from({ length: 3_000 }, (_, index) => `line ${index} ${index === 1_500 ? mark : 'same'}`).join('\n');
    expect(told(many('before'), many('after')).filter((piece) => piece[0] !== '=')).toHaveLength(2);
    const short = (from: number) => Array.from({ length: 3_000 }, (_, index) => `${from + index}`).join('\n');
    expect(textDifference(short(0), short(10_000)).map(({ kind }) => kind)).toEqual(['removed', 'added']);
  });
});
