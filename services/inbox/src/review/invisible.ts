/**
 * Characters that change how a text looks without being seen: direction overrides, zero-width ones, controls, blank letters. A person
 * approves bytes, so they are shown by name. Joiners stay unnamed where writing needs them: in emoji, and inside words of scripts that join.
 */
const INVISIBLE = /(?![\t\n\r])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u115f\u1160\u17b4\u17b5\u3164\uffa0]/gu;
const JOINED = /[\p{Lo}\p{M}\p{Extended_Pictographic}\p{Emoji_Modifier}]$/u;
const JOINERS: readonly string[] = ['\u200c', '\u200d'];

export type Run = { text: string } | { hidden: string };

/** The text in runs: what is seen as it is, and each hidden character as its code point. */
export function runsOf(text: string): Run[] {
  const runs: Run[] = [];
  let from = 0;
  for (const { 0: found, index } of text.matchAll(INVISIBLE)) {
    if (JOINERS.includes(found) && JOINED.test(text.slice(Math.max(0, index - 2), index))) continue;
    if (index > from) runs.push({ text: text.slice(from, index) });
    runs.push({ hidden: `U+${(found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}` });
    from = index + found.length;
  }
  if (from < text.length) runs.push({ text: text.slice(from) });
  return runs;
}
