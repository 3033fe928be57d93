import { describe, expect, it } from '@jest/globals';
import { agoOf, beatOf, durationOf, pressureOf } from './deadline.js';

const NOW = Date.parse('2026-11-30T12:00:00.000Z');
const [SECOND, MINUTE, HOUR, DAY] = [1000, 60_000, 3_600_000, 86_400_000];
const inTime = (ms: number) => new Date(NOW + ms).toISOString();

describe('a countdown', () => {
  it.each([
    [-5, '0 s'],
    [999, '0 s'],
    [59_999, '59 s'],
    [MINUTE, '1 min 00 s'],
    [9 * MINUTE + 59 * SECOND, '9 min 59 s'],
    [10 * MINUTE, '10 min'],
    [HOUR - 1, '59 min'],
    [HOUR + 5 * MINUTE, '1 h 05 min'],
    [DAY - 1, '23 h 59 min'],
    [DAY, '1 d'],
    [2 * DAY + 3 * HOUR, '2 d 3 h'],
    [45 * DAY + 3 * HOUR, '45 d'],
  ])('of %d ms reads %s', (ms, words) => {
    expect(durationOf(ms)).toBe(words);
  });

  it('presses harder towards the end, and is over at the very instant', () => {
    const pressures = [3 * HOUR, HOUR, 5 * MINUTE, 1, 0].map((ms) => pressureOf(inTime(ms), NOW));
    expect(pressures).toEqual(['calm', 'soon', 'last', 'last', 'over']);
  });

  it('is drawn each second while it shows seconds', () => {
    expect(beatOf(inTime(10 * MINUTE), NOW)).toBe(SECOND);
    expect(beatOf(inTime(30 * MINUTE), NOW)).toBe(15 * SECOND);
    expect(beatOf(inTime(DAY), NOW)).toBe(MINUTE);
  });
});

describe('how long ago', () => {
  it.each([
    [-3 * SECOND, 'just now'],
    [59 * SECOND, 'just now'],
    [MINUTE, '1 min ago'],
    [5 * HOUR, '5 h ago'],
    [DAY, 'yesterday'],
    [3 * DAY, '3 d ago'],
  ])('%d ms reads %s', (ms, words) => {
    expect(agoOf(inTime(-ms), NOW)).toBe(words);
  });
});
