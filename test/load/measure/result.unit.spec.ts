import { describe, expect, it } from '@jest/globals';
import { type Claim, type Figure, type Round, ratio } from '../figure.js';
import { number, render, replaced } from './render.js';
import { failureOf, holds, judge, merged, resultOf } from './result.js';

const round = (ours: number, theirs: number): Round => ({ ours: { per_s: ours, p99_ms: 4 }, theirs: { per_s: theirs } });
const claim: Claim = { what: 'of theirs', unit: '×', value: ratio('per_s', 'ours', 'theirs'), better: 'more', required: 1, goal: 2 };
const figure: Figure = {
  name: 'one',
  title: 'One',
  topology: 'Here.',
  beside: 'theirs',
  claims: [claim],
  open: () => Promise.reject(new Error('not opened')),
};
const measured = { at: '2026-01-02T03:04:05.678Z', commit: 'abc1234', load: 0.5, fsync_per_s: 1_000, seconds: 5 };

describe('a claim', () => {
  it.each([
    { value: 0.9, verdict: 'missed' },
    { value: 1, verdict: 'required' },
    { value: 2, verdict: 'goal' },
  ])('of $value is $verdict where more is better', ({ value, verdict }) => {
    expect(judge(claim, [round(100 * value, 100)]).verdict).toBe(verdict);
  });

  it.each([
    { value: 11, verdict: 'missed' },
    { value: 10, verdict: 'required' },
    { value: 1, verdict: 'goal' },
  ])('of $value is $verdict where less is better', ({ value, verdict }) => {
    const late: Claim = { what: 'p99', unit: 'ms', value: () => value, better: 'less', required: 10, goal: 5 };
    expect(judge(late, [round(1, 1)]).verdict).toBe(verdict);
  });

  it('is judged by the median of the ratios of each round, not by the ratio of the medians', () => {
    // Medians of the sides: 200 and 100.
    const judged = judge(claim, [round(90, 100), round(200, 400), round(300, 50)]);
    expect(judged).toMatchObject({ median: 0.9, low: 0.5, high: 6, verdict: 'missed' });
  });

  it('without a requirement is only shown', () => {
    expect(judge({ ...claim, required: undefined, goal: undefined }, [round(1, 100)]).verdict).toBe('shown');
  });

  it('cannot be judged by what a side did not measure', () => {
    expect(() => judge(claim, [{ ours: { per_s: 1 } }])).toThrow('theirs measured no per_s');
  });
});

describe('results', () => {
  const good = resultOf(figure, measured, [round(150, 100), round(140, 100)]);
  const bad = failureOf(figure, measured, 'It broke.');

  it('hold when everything required holds, and never when nothing was measured', () => {
    expect([holds(good), holds(resultOf(figure, measured, [round(1, 100)])), holds(bad)]).toEqual([true, false, false]);
  });

  it('take the place of older ones, in the order of the figures, and leave out those that are gone', () => {
    const of = (name: string, at: string) => ({ ...good, name, measured: { ...measured, at } });
    const all = merged([of('gone', 'old'), of('two', 'old'), of('one', 'old')], [of('one', 'new')], ['one', 'two']);
    expect(all.map(({ name, measured }) => `${name} ${measured.at}`)).toEqual(['one new', 'two old']);
  });

  it('are a table between the marks of the page', () => {
    const results = { machine: { processor: 'P', cores: 2, memory_gb: 8, system: 'linux', node: '24' }, figures: [good] };
    const page = replaced(`Before\n${render({ ...results, figures: [bad] })}\nAfter\n`, results);
    expect(page).toBe(`Before\n${render(results)}\nAfter\n`);
    expect(page).toContain('| One | of theirs | 1.45× (1.4 to 1.5) | ≥ 1× | ≥ 2× | yes |');
    expect(page).toContain('- ours: 145/s (140 to 150), p99 4 ms (4 to 4)');
    expect(page).not.toContain('It broke');
    expect(() => replaced('no marks', results)).toThrow('needs the lines');
  });

  it('say so in the table when there are none', () => {
    const results = { machine: { processor: 'P', cores: 2, memory_gb: 8, system: 'linux', node: '24' }, figures: [bad] };
    expect(render(results)).toContain('| One | not measured |  |  |  | **no** |');
  });
});

describe('a number', () => {
  it.each([
    [12_345.6, '12,346'],
    [123.45, '123'],
    [12.345, '12.3'],
    [0.01234, '0.012'],
    [0, '0'],
  ])('%p is shown as %s', (value, text) => {
    expect(number(value)).toBe(text);
  });
});
