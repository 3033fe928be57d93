/**
 * Characters that change how a text looks or what it says without being seen: direction overrides, zero-width ones, controls, blank letters,
 * variation selectors. A person approves bytes, so they are shown by name. Unnamed are only those without which a script cannot be written:
 * joiners between letters of scripts that join, and joiners and selectors of emoji.
 */
const INVISIBLE = /(?![\t\n\r])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu;

const JOINING = 'Arab|Syrc|Mong|Nkoo|Deva|Beng|Guru|Gujr|Orya|Taml|Telu|Knda|Mlym|Sinh|Khmr|Mymr|Tibt'
  .split('|')
  .map((script) => `\\p{sc=${script}}`)
  .join('');
const JOINED_BEFORE = new RegExp(`[${JOINING}]\\p{M}*$`, 'u');
const JOINED_AFTER = new RegExp(`^(?=\\p{L})[${JOINING}]`, 'u');
const EMOJI_BEFORE = /(\p{Extended_Pictographic}|\p{Emoji_Modifier})\ufe0f?$/u;
const EMOJI_AFTER = /^\p{Extended_Pictographic}/u;
const STYLED_BEFORE = /(\p{Extended_Pictographic}|[0-9#*])$/u;

/** Code units that are looked at on each side. */
const NEAR = 8;

function needed(found: string, before: string, after: string): boolean {
  switch (found) {
    case '\u200c':
      return JOINED_BEFORE.test(before) && JOINED_AFTER.test(after);
    case '\u200d':
      return (EMOJI_BEFORE.test(before) && EMOJI_AFTER.test(after)) || (JOINED_BEFORE.test(before) && JOINED_AFTER.test(after));
    case '\ufe0e':
    case '\ufe0f':
      return STYLED_BEFORE.test(before);
    default:
      return false;
  }
}

export const HIDDEN_CHARACTER = 'Invisible character';

export type Run = { text: string } | { hidden: string };

/** The text in runs: what is seen as it is, and each hidden character as its code point. */
export function runsOf(text: string): Run[] {
  const runs: Run[] = [];
  let from = 0;
  for (const { 0: found, index } of text.matchAll(INVISIBLE)) {
    const end = index + found.length;
    if (needed(found, text.slice(Math.max(0, index - NEAR), index), text.slice(end, end + NEAR))) continue;
    if (index > from) runs.push({ text: text.slice(from, index) });
    runs.push({ hidden: `U+${(found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}` });
    from = end;
  }
  if (from < text.length) runs.push({ text: text.slice(from) });
  return runs;
}
