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

/** A copy with the value at a path replaced. */
function replaced(root: unknown, path: readonly string[], value: unknown): unknown {
  const [head, ...rest] = path;
  if (head === undefined) return value;
  if (Array.isArray(root)) return root.map((item, i) => (String(i) === head ? replaced(item, rest, value) : item));
  return { ...(root as Json), [head]: replaced((root as Json)[head], rest, value) };
}

/** Values as long, as big or as many as the schema lets them be, of characters that take four bytes each. */
function atTheBound(
  { maxLength, minimum, maximum, maxItems, pattern, format, enum: words, items }: Schema,
  value: unknown,
): [string, unknown][] {
  const found: [string, unknown][] = [];
  if (maxLength !== undefined && !pattern && !format && !words) found.push(['as long as it may be', '🤖'.repeat(maxLength)]);
  if (minimum !== undefined) found.push(['as small as it may be', minimum]);
  if (maximum !== undefined) found.push(['as big as it may be', maximum]);
  const one = Array.isArray(value) ? value[0] : items?.type === 'string' ? 'x' : undefined;
  if (maxItems !== undefined && one !== undefined) {
    found.push([
      'as many as it may be',
      Array.from({ length: maxItems }, (_, i) => (typeof one === 'string' ? `${one.slice(0, 40)}${i}` : one)),
    ]);
  }
  return found;
}

/** Bodies the description allows, at the end of what it allows. */
export function boundsOf(document: OpenApi, ref: Schema, body: unknown): Mutation[] {
  return everyPlace(document, ref, body, atTheBound);
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
  return everyPlace(
    document,
    ref,
    body,
    (schema, value) =>
      [
        ...STRANGERS.filter(([, stranger]) => !admits(document, schema, stranger)),
        ...outOfBounds(schema, value),
        ...(isObject(value)
          ? (schema.required ?? []).filter((name) => name in value).map((name) => [`without ${name}`, without(value, name)])
          : []),
      ] as [string, unknown][],
  );
}

const without = (value: Json, name: string): Json => Object.fromEntries(Object.entries(value).filter(([key]) => key !== name));

/** Puts other values in every place of a body that the schema knows, one at a time. */
function everyPlace(
  document: OpenApi,
  ref: Schema,
  body: unknown,
  values: (schema: Schema, value: unknown) => readonly (readonly [string, unknown])[],
): Mutation[] {
  const found: Mutation[] = [];
  function visit(path: readonly string[], ref: Schema, value: unknown): void {
    const schema = resolved(document, ref);
    for (const [how, other] of values(schema, value)) found.push({ path: path.join('.'), how, body: replaced(body, path, other) });
    if (schema.items && Array.isArray(value)) for (const [i, item] of value.entries()) visit([...path, String(i)], schema.items, item);
    if (!isObject(value)) return;
    for (const [name, member] of Object.entries(schema.properties ?? {})) {
      // One of several: a second one would be wrong in another way.
      if (name in value || !schema.oneOf) visit([...path, name], member, value[name]);
    }
  }
  visit([], ref, body);
  return found;
}
