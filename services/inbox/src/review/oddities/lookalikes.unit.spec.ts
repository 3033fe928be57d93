import { describe, expect, it } from '@jest/globals';
import { lookalikesOf } from './lookalikes.js';

describe('words that may be read as others', () => {
  it.each([
    ['ann@exаmple.org', ['“exаmple.org” is actually the host xn--exmple-4nf.org']],
    ['see https://аррӏе.com/login', ['“аррӏе.com” is actually the host xn--80ak6aa92e.com']],
    ['to pаypal, and to pаypal', ['“pаypal” mixes letters from several alphabets: Latin, Cyrillic']],
    ['münchen.de', ['“münchen.de” is actually the host xn--mnchen-3ya.de']],
  ])('%s', (text, told) => {
    expect(lookalikesOf(text)).toEqual(told);
  });
  it.each(['ann@example.org', 'Сообщение для Anna', '5 kΩ and 3 μm', 'naïve café, señor', 'mail, then. Über alles. é.'])(
    'are not in %s',
    (text) => {
      expect(lookalikesOf(text)).toEqual([]);
    },
  );
});
