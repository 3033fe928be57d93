import { describe, expect, it } from '@jest/globals';
import { neighboursOf } from './neighbours.js';

const QUEUE = ['a', 'b', 'c', 'd'];

describe('the way from one review to the next', () => {
  it.each([
    ['a', { previous: null, next: 'b', place: 1 }],
    ['b', { previous: 'a', next: 'c', place: 2 }],
    ['d', { previous: 'c', next: null, place: 4 }],
  ])('from %s', (id, way) => {
    expect(neighboursOf(QUEUE, id)).toEqual(way);
  });
  it('leads on from one that was decided', () => {
    expect(neighboursOf(['a', 'c', 'd'], 'b', QUEUE)).toEqual({ previous: 'a', next: 'c', place: null });
    expect(neighboursOf(['new', 'a', 'd'], 'b', QUEUE)).toEqual({ previous: 'a', next: 'd', place: null });
  });
  it('begins again from the last', () => {
    expect(neighboursOf(['a', 'b', 'c'], 'd', QUEUE)).toEqual({ previous: 'c', next: 'a', place: null });
  });
  it('begins at the first from one that never waited here', () => {
    expect(neighboursOf(QUEUE, 'x')).toEqual({ previous: null, next: 'a', place: null });
  });
  it('leads nowhere in an empty queue', () => {
    expect(neighboursOf([], 'a', QUEUE)).toEqual({ previous: null, next: null, place: null });
  });
});
