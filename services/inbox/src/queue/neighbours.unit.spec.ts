import { describe, expect, it } from '@jest/globals';
import { neighboursOf } from './neighbours.js';

describe('the way from one review to the next', () => {
  it.each([
    ['a', { previous: null, next: 'b', place: 1 }],
    ['b', { previous: 'a', next: 'c', place: 2 }],
    ['c', { previous: 'b', next: null, place: 3 }],
    ['gone', { previous: null, next: 'a', place: null }],
  ])('from %s', (id, way) => {
    expect(neighboursOf(['a', 'b', 'c'], id)).toEqual(way);
  });
  it('leads nowhere in an empty queue', () => {
    expect(neighboursOf([], 'a')).toEqual({ previous: null, next: null, place: null });
  });
});
