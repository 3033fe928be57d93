/** Keys of a payload that may be taken for others: blank ones, blanks that are not plain, letters that look like those of another key. */

/** Letters of other alphabets, and digits, by the Latin letter they look like. */
const LOOK_ALIKE: Readonly<Record<string, string>> = Object.fromEntries(
  [
    ['a', 'аαɑ'],
    ['b', 'вβь'],
    ['c', 'сϲ'],
    ['d', 'ԁ'],
    ['e', 'еєε'],
    ['g', 'ɡ'],
    ['h', 'нһ'],
    ['i', 'іιı'],
    ['j', 'јϳ'],
    ['k', 'кκ'],
    ['l', 'ӏ1|'],
    ['m', 'м'],
    ['n', 'пη'],
    ['o', 'оοσ0օ'],
    ['p', 'рρ'],
    ['q', 'ԛ'],
    ['r', 'г'],
    ['s', 'ѕ'],
    ['t', 'тτ'],
    ['u', 'υս'],
    ['v', 'ѵν'],
    ['w', 'ԝω'],
    ['x', 'хχ'],
    ['y', 'уүγ'],
    ['_', '-‐‑–—'],
  ].flatMap(([letter = '', others = '']) => [...others].map((other) => [other, letter])),
);

const BLANK = /[\p{White_Space}]/gu;
const UNSEEN = /[\p{White_Space}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\p{M}]/gu;

/** What is left of a key for somebody who glances at it. */
function glimpse(key: string): string {
  const letters = [...key.normalize('NFKD').replace(UNSEEN, '').toLowerCase()];
  return letters.map((letter) => LOOK_ALIKE[letter] ?? letter).join('');
}

const named = (blank: string) => `U+${(blank.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;

/**
 * Sentences about a key that may be taken for another.
 * @param others the keys it stands beside, itself aside or among them.
 */
export function oddities(key: string, others: readonly string[]): string[] {
  const told: string[] = [];
  if (key === '') told.push('This key is empty');
  const blanks = [...key.matchAll(BLANK)].filter(({ 0: blank, index }) => blank !== ' ' || index === 0 || index === key.length - 1);
  if (blanks.length > 0) told.push(`This key contains blanks: ${[...new Set(blanks.map(([blank]) => named(blank)))].join(', ')}`);
  const seen = glimpse(key);
  for (const other of others) {
    if (other !== key && seen !== '' && glimpse(other) === seen) told.push(`This key looks like “${other}”, and is another one`);
  }
  return told;
}
