/**
 * Reading JSON that others wrote, key by key as it stands.
 *
 * V8 13.6 (Node 24) guesses a key from the keys an earlier object of the same shape had, and compares that guess with the source of the key,
 * escapes unread: after anybody's `{"\\":1}` it reads `{"\"":1}` as `{"\\":1}`. What was approved would then not be what is read back, and one
 * caller's keys would change another's. So a text that has an escape in a key is parsed in JavaScript; others, nearly all, by the engine.
 */
import { parse as losslessParse } from 'lossless-json';

/** The value of a JSON text. @throws {SyntaxError} when it is none. */
export function readJson(text: string): unknown {
  return hasEscapedKey(text) ? losslessParse(text, undefined, { parseNumber: Number }) : JSON.parse(text);
}

/** Walks from string to string; a text that is not JSON may answer either way, and is refused by both parsers. */
function hasEscapedKey(text: string): boolean {
  let backslash = text.indexOf('\\');
  if (backslash < 0) return false;
  for (let start = text.indexOf('"'); start >= 0; ) {
    const end = endOfString(text, start);
    if (backslash < start) backslash = text.indexOf('\\', start);
    if (backslash < 0) return false;
    if (backslash < end && isKey(text, end)) return true;
    start = text.indexOf('"', end);
  }
  return false;
}

/** Whether a colon follows, blanks aside: then the string was a key. */
function isKey(text: string, end: number): boolean {
  let i = end;
  while (text[i] === ' ' || text[i] === '\n' || text[i] === '\r' || text[i] === '\t') i++;
  return text[i] === ':';
}

/** Index after the closing quote of the string that opens at `start`; the text's length when it does not close. */
function endOfString(text: string, start: number): number {
  let quote = text.indexOf('"', start + 1);
  while (quote >= 0) {
    let backslashes = 0;
    while (text[quote - 1 - backslashes] === '\\') backslashes++;
    if (backslashes % 2 === 0) return quote + 1;
    quote = text.indexOf('"', quote + 1);
  }
  return text.length;
}
