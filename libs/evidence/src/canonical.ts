/**
 * Canonical JSON (RFC 8785): the one text a value has, so that its digest means the same to everybody.
 *
 * Invariants:
 * C1. Only what JSON can say is accepted: no undefined, function, symbol, bigint, NaN, Infinity, hole, accessor or foreign prototype.
 * C2. Only text every reader agrees on is accepted: no lone surrogate, no NUL, no member named `__proto__`.
 * C3. What is accepted survives JSON.parse unchanged: `canonicalize(JSON.parse(canonicalize(v))) === canonicalize(v)`.
 */

/** Containers inside containers; a scalar has depth 0. */
export const MAX_DEPTH = 64;

/** The value has no canonical form. `path` is the JSON pointer of the offending part. */
export class NotCanonicalError extends Error {
  override readonly name = 'NotCanonicalError';
  constructor(
    readonly reason: string,
    readonly path: string,
  ) {
    super(`${reason} at ${path === '' ? 'the root' : path}`);
  }
}

/** One step of a JSON pointer (RFC 6901). */
export function pointerStep(key: string | number): string {
  return `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

function checkText(text: string, path: string): void {
  if (!text.isWellFormed()) throw new NotCanonicalError('a lone surrogate has no UTF-8 form', path);
  if (text.includes('\u0000')) throw new NotCanonicalError('NUL cannot be stored', path);
}

function checkOwn(container: object, key: string, path: string): unknown {
  const property = Object.getOwnPropertyDescriptor(container, key);
  if (!property || !('value' in property) || !property.enumerable) throw new NotCanonicalError('only plain members are allowed', path);
  return property.value;
}

function checkArray(array: unknown[], path: string, depth: number): void {
  if (Object.getPrototypeOf(array) !== Array.prototype) throw new NotCanonicalError('only plain arrays are allowed', path);
  // Own keys of a dense plain array are its indices and `length`: anything else is a hole or an extra member.
  if (Reflect.ownKeys(array).length !== array.length + 1) throw new NotCanonicalError('an array must be dense and hold nothing else', path);
  for (let i = 0; i < array.length; i++) {
    const step = path + pointerStep(i);
    check(checkOwn(array, String(i), step), step, depth);
  }
}

function checkObject(object: object, path: string, depth: number): void {
  const prototype = Object.getPrototypeOf(object);
  if (prototype !== Object.prototype && prototype !== null) throw new NotCanonicalError('only plain objects are allowed', path);
  for (const key of Reflect.ownKeys(object)) {
    if (typeof key === 'symbol') throw new NotCanonicalError('a symbol cannot be a member', path);
    checkText(key, path);
    const step = path + pointerStep(key);
    if (key === '__proto__') throw new NotCanonicalError('a member named __proto__ is not allowed', step);
    check(checkOwn(object, key, step), step, depth);
  }
}

function check(value: unknown, path: string, depth: number): void {
  switch (typeof value) {
    case 'boolean':
      return;
    case 'string':
      checkText(value, path);
      return;
    case 'number':
      if (!Number.isFinite(value)) throw new NotCanonicalError(`${value} is not a JSON number`, path);
      return;
    case 'object':
      if (value === null) return;
      // Also what ends a circular value.
      if (depth >= MAX_DEPTH) throw new NotCanonicalError(`nesting deeper than ${MAX_DEPTH}`, path);
      if (Array.isArray(value)) checkArray(value, path, depth + 1);
      else checkObject(value, path, depth + 1);
      return;
    default:
      throw new NotCanonicalError(`${typeof value} is not JSON`, path);
  }
}

/**
 * The text of a value in one pass over it, or null when it has none: `check` then says why. The published package and a check before it
 * take four times as long, and every event passes through here; the package stays the oracle of the tests.
 */
function write(value: unknown, depth: number): string | null {
  switch (typeof value) {
    case 'boolean':
      return value ? 'true' : 'false';
    case 'string':
      return writeText(value);
    case 'number':
      return Number.isFinite(value) ? JSON.stringify(value) : null;
    case 'object':
      if (value === null) return 'null';
      if (depth >= MAX_DEPTH) return null;
      return Array.isArray(value) ? writeArray(value, depth + 1) : writeObject(value, depth + 1);
    default:
      return null;
  }
}

/** What a JSON text escapes or refuses; most texts hold none of it. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: those are the ones JSON escapes.
const NOT_PLAIN = /[\u0000-\u001f"\\\ud800-\udfff]/;

function writeText(text: string): string | null {
  if (!NOT_PLAIN.test(text)) return `"${text}"`;
  return text.isWellFormed() && !text.includes('\u0000') ? JSON.stringify(text) : null;
}

function writeMember(container: object, key: string, depth: number): string | null {
  const property = Object.getOwnPropertyDescriptor(container, key);
  return property && 'value' in property && property.enumerable ? write(property.value, depth) : null;
}

function writeArray(array: unknown[], depth: number): string | null {
  if (Object.getPrototypeOf(array) !== Array.prototype || Reflect.ownKeys(array).length !== array.length + 1) return null;
  let text = '[';
  for (let i = 0; i < array.length; i++) {
    const element = writeMember(array, String(i), depth);
    if (element === null) return null;
    text += i === 0 ? element : `,${element}`;
  }
  return `${text}]`;
}

function writeObject(object: object, depth: number): string | null {
  const prototype = Object.getPrototypeOf(object);
  if (prototype !== Object.prototype && prototype !== null) return null;
  const keys = Reflect.ownKeys(object);
  for (const key of keys) if (typeof key === 'symbol' || key === '__proto__') return null;
  // By UTF-16 code units, as RFC 8785 has it and as strings compare.
  (keys as string[]).sort();
  let text = '{';
  for (const key of keys as string[]) {
    const name = writeText(key);
    const member = name === null ? null : writeMember(object, key, depth);
    if (member === null) return null;
    text += text === '{' ? `${name}:${member}` : `,${name}:${member}`;
  }
  return `${text}}`;
}

/**
 * The RFC 8785 text of a JSON value.
 * @throws {NotCanonicalError} when the value has none (C1, C2) or is nested deeper than MAX_DEPTH.
 */
export function canonicalize(value: unknown): string {
  const text = write(value, 0);
  if (text !== null) return text;
  check(value, '', 0);
  throw new NotCanonicalError('the value changed while it was read', '');
}
