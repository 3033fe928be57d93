/**
 * Bodies that break what the description says of one place, and are right everywhere else. Only what is wrong beyond doubt is made: a required
 * member left out, a value of a type or beyond a bound that the schema names.
 */
import type { OpenApi } from '../e2e/answers.js';
import { resolved, type Schema } from './schemas.js';

export interface Mutation {
  /** Dotted, as `param` has it; empty for the body itself. */
  path: string;
  how: string;
  body: unknown;
}

type Json = Record<string, unknown>;
const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);

/** One value of each kind, and some that look like another. */
const STRANGERS: readonly (readonly [string, unknown])[] = [
  ['null', null],
  ['true', true],
  ['a number', 7],
  ['a broken number', 1.5],
  ['a number as text', '7'],
  ['a text', 'a text'],
  ['no text', ''],
  ['a list', ['a text']],
  ['an object', { a: 1 }],
];

const typeOf = (value: unknown): string =>
  value === null ? 'null' : Array.isArray(value) ? 'array' : Number.isInteger(value) ? 'integer' : typeof value;

/** Whether the schema, as far as it says so by type and vocabulary, takes the value. */
function admits(document: OpenApi, ref: Schema, value: unknown): boolean {
  const schema = resolved(document, ref);
  if (schema.anyOf) return schema.anyOf.some((one) => admits(document, one, value));
  const types = schema.type === undefined ? [] : [schema.type].flat();
  const type = typeOf(value);
  if (types.length > 0 && !types.includes(type) && !(type === 'integer' && types.includes('number'))) return false;
  if (schema.enum) return schema.enum.includes(value);
  return schema.const === undefined || schema.const === value;
}

/** Values of the right type that are out of bounds. */
function outOfBounds(schema: Schema, value: unknown): [string, unknown][] {
  const { minLength, maxLength, minimum, maximum, minItems, maxItems, uniqueItems, pattern, format, maxProperties, minProperties } = schema;
  const found: [string, unknown][] = [];
  if (maxLength !== undefined) found.push(['too long', 'x'.repeat(maxLength + 1)]);
  if (minLength !== undefined && minLength > 0) found.push(['too short', '']);
  if (pattern !== undefined || format !== undefined)
    found.push(['of another form', '\u0001 ¿?'], ['of a form that costs', `${'a-'.repeat(5_000)}@`]);
  if (minimum !== undefined) found.push(['too small', minimum - 1]);
  if (maximum !== undefined) found.push(['too big', maximum + 1]);
  if (maxItems !== undefined)
    found.push(['of too many', Array.from({ length: maxItems + 1 }, (_, i) => (Array.isArray(value) ? value[0] : `x${i}`))]);
  if (minItems !== undefined && minItems > 0) found.push(['of none', []]);
  if (uniqueItems && Array.isArray(value) && value.length > 0) found.push(['of the same twice', [value[0], value[0]]]);
  if (maxProperties !== undefined)
    found.push(['of too many members', Object.fromEntries(Array.from({ length: maxProperties + 1 }, (_, i) => [`x${i}`, i]))]);
  if (minProperties !== undefined && minProperties > 0) found.push(['of no members', {}]);
  return found;
}

/** A copy with the value at a path replaced; undefined takes the member out. */
function replaced(root: unknown, path: readonly string[], value: unknown): unknown {
  const [head, ...rest] = path;
  if (head === undefined) return value;
  if (Array.isArray(root)) return root.map((item, i) => (String(i) === head ? replaced(item, rest, value) : item));
  const next = replaced((root as Json)[head], rest, value);
  const { [head]: _, ...others } = root as Json;
  return next === undefined ? others : { ...others, [head]: next };
}

/** Of several bodies, each place is broken in each way once. */
export function mutationsOf(document: OpenApi, ref: Schema, bodies: readonly unknown[]): Mutation[] {
  const found = new Map<string, Mutation>();
  for (const body of bodies) {
    for (const mutation of mutationsOfOne(document, ref, body)) {
      const key = `${mutation.path.replace(/\b\d+\b/g, '#')} ${mutation.how}`;
      if (!found.has(key)) found.set(key, mutation);
    }
  }
  return [...found.values()];
}

function mutationsOfOne(document: OpenApi, ref: Schema, body: unknown): Mutation[] {
  const found: Mutation[] = [];
  const add = (path: readonly string[], how: string, value: unknown) =>
    found.push({ path: path.join('.'), how, body: replaced(body, path, value) });

  function visit(path: readonly string[], ref: Schema, value: unknown): void {
    const schema = resolved(document, ref);
    for (const [how, stranger] of STRANGERS) if (!admits(document, schema, stranger)) add(path, how, stranger);
    for (const [how, wrong] of outOfBounds(schema, value)) add(path, how, wrong);
    if (schema.items && Array.isArray(value)) for (const [i, item] of value.entries()) visit([...path, String(i)], schema.items, item);
    if (!isObject(value)) return;
    for (const name of schema.required ?? []) if (name in value) add([...path, name], 'left out', undefined);
    for (const [name, member] of Object.entries(schema.properties ?? {})) {
      // One of several: a second one would be wrong in another way.
      if (name in value || !schema.oneOf) visit([...path, name], member, value[name]);
    }
  }
  visit([], ref, body);
  return found;
}
