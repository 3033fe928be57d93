import { describe, expect, it } from '@jest/globals';
import { runsOf } from './invisible.js';

const hidden = (text: string) => runsOf(text).flatMap((run) => ('hidden' in run ? [run.hidden] : []));

describe('characters that cannot be seen', () => {
  it.each([
    ['a direction override', 'pay\u202eevil', 'U+202E'],
    ['an isolate', 'a\u2066b', 'U+2066'],
    ['a zero-width space', 'pay\u200bpal', 'U+200B'],
    ['a zero-width joiner between letters', 'pay\u200dpal', 'U+200D'],
    ['a soft hyphen', 'a\u00adb', 'U+00AD'],
    ['a control', 'a\u0007b', 'U+0007'],
    ['a tag', 'a\u{e0041}', 'U+E0041'],
    ['a blank letter', 'a\u3164b', 'U+3164'],
    ['a line separator', 'a\u2028b', 'U+2028'],
    ['a byte order mark', '\ufeffa', 'U+FEFF'],
    ['a variation selector after a letter', 'a\ufe0f', 'U+FE0F'],
    ['a variation selector that carries data', '👍\u{e0101}', 'U+E0101'],
    ['a grapheme joiner', 'a\u034fb', 'U+034F'],
    ['a blank braille pattern', 'a\u2800b', 'U+2800'],
    ['a joiner after an accent', 'e\u0301\u200db', 'U+200D'],
    ['a joiner at the end of a word that joins', 'می\u200c ', 'U+200C'],
    ['a joiner after letters that never join', '日\u200d本', 'U+200D'],
  ])('%s is named', (_, text, name) => {
    expect(hidden(text)).toEqual([name]);
  });
  it.each(['Plain text,\n\twith lines.\r\n', '👩‍👧 👨🏽‍🚀 ✈️', 'می‌خواهم', 'क्‍ष', 'été café', '日本語'])('%j has none', (text) => {
    expect(hidden(text)).toEqual([]);
  });
  it('keeps the rest of the text as it is', () => {
    expect(runsOf('a\u202eb')).toEqual([{ text: 'a' }, { hidden: 'U+202E' }, { text: 'b' }]);
    expect(runsOf('')).toEqual([]);
  });
});
