import { describe, expect, it } from '@jest/globals';
import { decodeCursor, encodeCursor, lenientPage, listBody, pageOf, parseSeen, seenToken } from './index.js';

describe('pages', () => {
  it('fill in what a query left out, and name one place only', () => {
    expect(pageOf({})).toEqual({ limit: 50, offset: 0 });
    expect(pageOf({ limit: 10, cursor: 'x' })).toEqual({ limit: 10, offset: 0, cursor: 'x' });
    expect(() => pageOf({ cursor: 'x', offset: 0 })).toThrow(expect.objectContaining({ code: 'invalid_cursor' }));
  });

  it.each([
    [{}, { limit: 50, offset: 0 }],
    [
      { limit: '500', offset: '7' },
      { limit: 100, offset: 7 },
    ],
    [
      { limit: '0', offset: '-1' },
      { limit: 50, offset: 0 },
    ],
    [
      { limit: '1e3', offset: 'x' },
      { limit: 50, offset: 0 },
    ],
  ])('read leniently where HRP does: %j', (query, page) => {
    expect(lenientPage(query)).toEqual(page);
  });

  it('say of a list what comes next', () => {
    expect(listBody([1], { total: 3, hasMore: true, nextCursor: 'c' })).toEqual({
      object: 'list',
      items: [1],
      has_more: true,
      total: 3,
      next_cursor: 'c',
    });
    expect(listBody([], { total: 10_000, hasMore: false, nextCursor: 'c', totalIsCapped: true })).toEqual({
      object: 'list',
      items: [],
      has_more: false,
      total: 10_000,
      total_is_capped: true,
    });
  });
});

describe('cursors', () => {
  const isPlace = (value: unknown): value is [string, number] =>
    Array.isArray(value) && typeof value[0] === 'string' && typeof value[1] === 'number';

  it('come back as they went', () => {
    expect(decodeCursor(encodeCursor(['ü', 7]), isPlace)).toEqual(['ü', 7]);
    expect(encodeCursor(['ü', 7])).toMatch(/^[\w-]+$/);
  });

  it.each(['', '%%%', 'bm90IGpzb24', encodeCursor([7, 'x']), encodeCursor(null)])('refuse %j', (cursor) => {
    expect(() => decodeCursor(cursor, isPlace)).toThrow(expect.objectContaining({ code: 'invalid_cursor' }));
  });
});

describe('Countersign-Seen', () => {
  it.each([
    [undefined, []],
    ['', []],
    ['nonsense', []],
    [seenToken({ position: 12, bucket: 3 }), [{ position: 12, bucket: 3 }]],
    [
      '12.3, 15.7,x,1.2.3',
      [
        { position: 12, bucket: 3 },
        { position: 15, bucket: 7 },
      ],
    ],
    ['9999999999999999.1', []],
  ])('%j names %j', (header, seen) => {
    expect(parseSeen(header)).toEqual(seen);
  });
});
