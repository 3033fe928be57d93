/**
 * Strict JSON (decision 17). What is stored is hashed, shown and approved, so a body that two readers could understand differently is refused.
 *
 * J1 The text is exactly one JSON document (RFC 8259) in UTF-8 without a byte order mark; `JSON.parse` is the judge of that.
 * J2 No object has the same key twice, however the two are escaped.
 * J3 Objects and arrays nest at most 64 deep.
 * J4 A number is the decimal its double prints as: 9007199254740993, 1e400 and 1e-400 are refused; `1.0`, `1e2`, `0.1` and `-0` pass.
 * J5 No string or key holds NUL or half a surrogate pair, escaped or not.
 * J6 No object has the key `__proto__`.
 *
 * The parse is the engine's own; one pass over the (by then well-formed) text checks the rest.
 *
 * J7 A key with an escape is not left to the engine: V8 13.6 (Node 24) compares such a key's source with the key an earlier object of the same
 *    shape had, escapes unread. After anybody's `{"\\":1}` it reads `{"\"":1}` as `{"\\":1}`. Such a document is parsed once more, in JavaScript.
 */
import { isUtf8 } from 'node:buffer';
import type { ErrorCode } from '@countersign/contracts';
import { parse as losslessParse } from 'lossless-json';

type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };

export const MAX_DEPTH = 64;

/** Why a text is not taken. `position` counts UTF-16 units from 0. */
export class JsonRefused extends Error {
  override readonly name = 'JsonRefused';
  constructor(
    readonly code: ErrorCode & (`json_${string}` | 'invalid_json'),
    message: string,
    readonly position?: number,
  ) {
    super(position === undefined ? message : `${message.replace(/\.$/, '')} (at character ${position + 1}).`);
  }
}

/** @throws {JsonRefused} for a breach of J1–J6. */
export function parseJson(body: Uint8Array | string): JsonValue {
  const text = typeof body === 'string' ? body : textOf(body);
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const position = /at position (\d+)/.exec(error.message)?.[1];
    throw new JsonRefused(
      'invalid_json',
      'The body must be a single valid JSON document.',
      position === undefined ? undefined : Number(position),
    );
  }
  const { hasEscapedKey } = inspect(text);
  return hasEscapedKey ? (losslessParse(text, undefined, { parseNumber: Number }) as JsonValue) : value;
}

function textOf(bytes: Uint8Array): string {
  if (!isUtf8(bytes)) throw new JsonRefused('invalid_json', 'The body is not UTF-8.');
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}

const QUOTE = 0x22;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const MINUS = 0x2d;

/** Checks J2–J6 of a text that `JSON.parse` has taken; every shortcut below leans on that. */
function inspect(text: string): { hasEscapedKey: boolean } {
  let hasEscapedKey = false;
  /** Keys seen in each open container; an array's entry stays empty. */
  const open: (Set<string> | undefined)[] = [];
  let i = 0;
  while (i < text.length) {
    const unit = text.charCodeAt(i);
    if (unit === QUOTE) {
      const end = endOfString(text, i);
      const string = checkedString(text, i, end);
      if (isFollowedByColon(text, end)) {
        addKey(open, string, i);
        hasEscapedKey ||= string.length !== end - i - 2;
      }
      i = end;
    } else if (unit === 0x7b || unit === 0x5b) {
      if (open.push(undefined) > MAX_DEPTH)
        throw new JsonRefused('json_too_deep', `The body is nested more than ${MAX_DEPTH} levels deep.`, i);
      i++;
    } else if (unit === 0x7d || unit === 0x5d) {
      open.pop();
      i++;
    } else if (unit === MINUS || (unit >= 0x30 && unit <= 0x39)) {
      i = checkedNumber(text, i);
    } else {
      i++;
    }
  }
  return { hasEscapedKey };
}

/** Index after the closing quote of the string that opens at `start`. */
function endOfString(text: string, start: number): number {
  let quote = text.indexOf('"', start + 1);
  for (;;) {
    let backslashes = 0;
    while (text.charCodeAt(quote - 1 - backslashes) === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0) return quote + 1;
    quote = text.indexOf('"', quote + 1);
  }
}

/** The string's value. Only an escape can bring in what UTF-8 and `JSON.parse` have not refused already. */
function checkedString(text: string, start: number, end: number): string {
  const raw = text.slice(start + 1, end - 1);
  if (!raw.includes('\\')) {
    // A text handed over as a JavaScript string has not been through UTF-8.
    if (!raw.isWellFormed()) throw halfPair(start);
    return raw;
  }
  const value = JSON.parse(text.slice(start, end)) as string;
  if (value.includes('\0')) throw new JsonRefused('json_invalid_string', 'A string in the body contains NUL.', start);
  if (!value.isWellFormed()) throw halfPair(start);
  return value;
}

function halfPair(start: number): JsonRefused {
  return new JsonRefused('json_invalid_string', 'A string in the body contains an unpaired surrogate.', start);
}

function isFollowedByColon(text: string, from: number): boolean {
  let i = from;
  let unit = text.charCodeAt(i);
  while (unit === 0x20 || unit === 0x0a || unit === 0x0d || unit === 0x09) unit = text.charCodeAt(++i);
  return unit === COLON;
}

function addKey(open: (Set<string> | undefined)[], key: string, position: number): void {
  if (key === '__proto__')
    throw new JsonRefused('json_forbidden_key', 'An object in the body contains the forbidden key "__proto__".', position);
  const innermost = open.length - 1;
  let keys = open[innermost];
  if (keys === undefined) {
    keys = new Set();
    open[innermost] = keys;
  }
  if (keys.has(key)) {
    throw new JsonRefused(
      'json_duplicate_key',
      `An object in the body contains the key ${JSON.stringify(key.slice(0, 100))} twice.`,
      position,
    );
  }
  keys.add(key);
}

/** Index after the number. Fifteen characters without an exponent hold at most fifteen digits, which a double always gives back. */
function checkedNumber(text: string, start: number): number {
  let end = start + 1;
  let plain = true;
  for (; end < text.length; end++) {
    const unit = text.charCodeAt(end);
    if (unit >= 0x30 && unit <= 0x39) continue;
    if (unit === 0x65 || unit === 0x45) plain = false;
    else if (unit !== 0x2e && unit !== MINUS && unit !== 0x2b) break;
  }
  if (!(plain && end - start <= 15)) {
    const literal = text.slice(start, end);
    if (!survives(literal)) {
      throw new JsonRefused(
        'json_unsafe_number',
        `The number ${literal.slice(0, 60)} cannot be represented exactly as a double. Send it as a string.`,
        start,
      );
    }
  }
  return end;
}

/** Whether the literal's decimal value is the one its double prints as (J4). */
function survives(literal: string): boolean {
  const value = Number(literal);
  return Number.isFinite(value) && decimal(literal) === decimal(String(value));
}

/** Sign, digits without outer zeros, and exponent: equal for equal decimal values. */
function decimal(literal: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(literal) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return '0';
  return `${sign}${significant}e${BigInt(exponent) - BigInt(fraction.length) + BigInt(digits.length - significant.length)}`;
}
