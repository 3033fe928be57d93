import { describe, expect, it } from '@jest/globals';
import { whyUndrawn } from './drawable.js';

const row = (cells: number) => `${'| a '.repeat(cells)}|\n`;

describe('a text that would hold up the page', () => {
  it.each([
    ['too long', 'words '.repeat(6_000)],
    ['nested too deeply', `words\n${'> '.repeat(150)}words`],
    ['nested too deeply', `${'  '.repeat(150)}- words`],
    ['A table in this text is too large', row(200) + '| a\n'.repeat(200)],
    ['too much markup', '*a '.repeat(5_000) + '**b'.repeat(2_000)],
    ['too much markup', '~~a'.repeat(6_000)],
    ['too much markup', '*a_ '.repeat(2_000)],
    ['too much markup', '[a](<b'.repeat(2_000)],
    ['too much markup', `a ${'*'.repeat(1_000)}a${'*'.repeat(1_000)}`],
    ['too much markup', '*a **b\n\n'.repeat(2_000)],
  ])('is not drawn: %s', (why, text) => {
    expect(whyUndrawn(text)).toContain(why);
  });
  it.each([
    '',
    'words '.repeat(4_000),
    'line | of | prose\n'.repeat(1_000),
    `${'>'.repeat(100)} words`,
    row(30).repeat(100),
    '---\n',
    '- **one** and _two_\n\n'.repeat(400),
  ])('is none of %#', (text) => {
    expect(whyUndrawn(text)).toBeNull();
  });
});
