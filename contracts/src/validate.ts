/**
 * Validators compiled from the messages, one ajv 2020-12 instance for each mode.
 *
 * V1. `drop` (what callers send): a key the message does not name is removed. Mutates the value it is given.
 * V2. `exact` (what we send, and examples): such a key is an issue, at any depth.
 * V3. `open` (what we read from elsewhere): such a key stays.
 * V4. A value `x-later` would accept but the message does not is reported as `feature_not_available` (decision 29); nothing else is then reported.
 * V5. A schema is compiled on first use and kept.
 * V6. A hostile value costs no more than a good one: checking stops at the first fault, and only a small value is then gone through again
 *     for all of them. (Some keywords, such as uniqueItems, are quadratic; their bounds stand before them.)
 * V7. A value under a name that only answers have (`x-said-as`) is not dropped but refused, with the name a request uses.
 */
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { messages, type Static, type TSchema } from './schema.js';

export type Mode = 'drop' | 'exact' | 'open';

export interface Issue {
  /** Dotted path below the value, such as `timeout.seconds` or `fields.0.name`; empty for the value itself. */
  path: string;
  message: string;
  code: IssueCode;
}

export type IssueCode =
  | 'required'
  | 'invalid_type'
  | 'invalid_value'
  | 'invalid_format'
  | 'too_small'
  | 'too_big'
  | 'not_unique'
  | 'invalid_union'
  | 'unrecognized_keys'
  | 'not_available'
  | 'custom';

export type Validated<T> =
  | { ok: true; value: T }
  | { ok: false; code: 'validation_failed' | 'feature_not_available'; issues: [Issue, ...Issue[]] };

export type Validate<T> = (value: unknown) => Validated<T>;

/** Issues told at once; a hostile body must not make a hostile answer. */
const MOST_ISSUES = 20;

const ISSUE_CODES: Record<string, IssueCode> = {
  required: 'required',
  dependentRequired: 'required',
  type: 'invalid_type',
  enum: 'invalid_value',
  const: 'invalid_value',
  format: 'invalid_format',
  pattern: 'invalid_format',
  minLength: 'too_small',
  minimum: 'too_small',
  exclusiveMinimum: 'too_small',
  minItems: 'too_small',
  minProperties: 'too_small',
  maxLength: 'too_big',
  maximum: 'too_big',
  exclusiveMaximum: 'too_big',
  maxItems: 'too_big',
  maxProperties: 'too_big',
  uniqueItems: 'not_unique',
  anyOf: 'invalid_union',
  oneOf: 'invalid_union',
  additionalProperties: 'unrecognized_keys',
};

type Json = Record<string, unknown>;
const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Closes every object that names its properties; maps and free objects keep any key. Values of `x-later`, examples and enums are left alone. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (!isObject(schema)) return schema;
  const copy = Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [key, key === 'enum' || key === 'const' || key === 'default' ? value : closed(value)]),
  );
  if (isObject(copy.properties) && [copy.type].flat().includes('object') && copy.additionalProperties === undefined)
    copy.additionalProperties = false;
  return copy;
}

/** One ajv for each mode and thoroughness. */
class Compiler {
  readonly #ajv: Ajv2020;
  readonly #compiled = new WeakMap<object, ValidateFunction>();

  constructor(
    readonly mode: Mode,
    allErrors: boolean,
  ) {
    this.#ajv = new Ajv2020({
      strict: true,
      // Every schema is ours, and the tests hold them against the metaschema: here it would cost most of what compiling them does, at each start.
      validateSchema: false,
      strictTypes: false,
      strictRequired: false,
      allErrors,
      verbose: true,
      removeAdditional: mode === 'drop',
    });
    formats.default(this.#ajv);
    this.#ajv.addKeyword({ keyword: 'x-later', schemaType: 'object' });
    this.#ajv.addKeyword({ keyword: 'x-lenient', schemaType: 'boolean' });
    this.#ajv.addKeyword({ keyword: 'x-said-as', schemaType: 'string' });
    for (const schema of messages().values()) this.#ajv.addSchema(this.#shape(schema));
  }

  compile(schema: object): ValidateFunction {
    let check = this.#compiled.get(schema);
    if (!check) {
      const id = (schema as { $id?: string }).$id;
      check =
        (id === undefined ? undefined : (this.#ajv.getSchema(id) as ValidateFunction | undefined)) ??
        this.#ajv.compile(this.#shape(schema));
      this.#compiled.set(schema, check);
    }
    return check;
  }

  #shape(schema: object): Json {
    return (this.mode === 'open' ? schema : closed(schema)) as Json;
  }
}

const compilers = new Map<string, Compiler>();

function compiler(mode: Mode, allErrors: boolean): Compiler {
  const key = `${mode} ${allErrors}`;
  let known = compilers.get(key);
  if (!known) {
    known = new Compiler(mode, allErrors);
    compilers.set(key, known);
  }
  return known;
}

/** Whether a value has at most about 2,000 parts, a part being a member, an item or 100 characters. */
function isSmall(value: unknown): boolean {
  let left = 2000;
  const open = [value];
  while (open.length > 0) {
    const next = open.pop();
    left -= typeof next === 'string' ? 1 + next.length / 100 : 1;
    if (left < 0) return false;
    if (typeof next !== 'object' || next === null) continue;
    const parts = Object.values(next);
    if (parts.length > left) return false;
    for (const part of parts) open.push(part);
  }
  return true;
}

/** A validator of a message or of any schema that refers to messages. */
export function validator<S extends TSchema>(schema: S, mode: Mode = 'drop'): Validate<Static<S>> {
  const check = compiler(mode, false).compile(schema);
  return (value) => {
    if (check(value)) return { ok: true, value: value as Static<S> };
    const first = check.errors ?? [];
    if (!isSmall(value)) return refuse(first, mode);
    const thorough = compiler(mode, true).compile(schema);
    return refuse(thorough(value) ? first : (thorough.errors ?? first), mode);
  };
}

/**
 * A validator of query and path parameters, whose values arrive as strings: numbers and booleans are read where the schema says so, and a
 * single value stands for a list of one. A number marked `x-lenient` is never refused: what is no number or too small counts as absent, what
 * is too big as the biggest.
 */
export function queryValidator<S extends TSchema>(schema: S): Validate<Static<S>> {
  const check = validator(schema);
  const properties = ((schema as { properties?: Json }).properties ?? {}) as Record<string, Json>;
  return (value) => {
    if (!isObject(value)) return check(value);
    const read: Json = Object.create(null);
    for (const [key, raw] of Object.entries(value)) {
      const schema = Object.hasOwn(properties, key) ? properties[key] : undefined;
      const one = schema ? coerce(raw, schema) : raw;
      if (one !== undefined) read[key] = one;
    }
    return check({ ...read });
  };
}

function coerce(raw: unknown, schema: Json): unknown {
  if (schema.type === 'array') return Array.isArray(raw) ? raw : [raw];
  if (schema['x-lenient']) return lenient(raw, schema);
  if (typeof raw !== 'string') return raw;
  if (schema.type === 'integer' && /^-?\d{1,16}$/.test(raw)) return Number(raw);
  if (schema.type === 'boolean') return raw === 'true' || raw === '1' ? true : raw === 'false' || raw === '0' ? false : raw;
  return raw;
}

function lenient(raw: unknown, { minimum, maximum }: Json): number | undefined {
  if (typeof raw !== 'string' || !/^\d{1,16}$/.test(raw) || Number(raw) < Number(minimum)) return undefined;
  return Math.min(Number(raw), Number(maximum));
}

function refuse(errors: ErrorObject[], mode: Mode): Extract<Validated<never>, { ok: false }> {
  const later = errors.filter((error) => isLater(error, mode));
  if (later.length > 0) {
    const issues = unique(
      later.map((error) => ({ path: pathOf(error), message: 'is not available on this server yet', code: 'not_available' as const })),
    );
    return { ok: false, code: 'feature_not_available', issues: issues as [Issue, ...Issue[]] };
  }
  const issues = unique(meaningful(errors).map((error) => ({ path: pathOf(error), message: sentence(error), code: codeOf(error) })));
  return { ok: false, code: 'validation_failed', issues: issues.slice(0, MOST_ISSUES) as [Issue, ...Issue[]] };
}

/** The value is one the protocol knows and this server will take some day. */
function isLater(error: ErrorObject, mode: Mode): boolean {
  const later = (error.parentSchema as Json | undefined)?.['x-later'];
  return isObject(later) && compiler(mode, false).compile(later)(error.data) === true;
}

/** Drops what only restates another error: the `if` wrapper, and the null branch of "this or null". */
function meaningful(errors: ErrorObject[]): ErrorObject[] {
  const told = errors.filter((error) => error.keyword !== 'if' && !/\/(anyOf|oneOf)\/\d+\/type$/.test(error.schemaPath));
  const inner = told.filter((error) => error.keyword !== 'anyOf' && error.keyword !== 'oneOf');
  return inner.length > 0 ? inner : errors;
}

function pathOf(error: ErrorObject): string {
  const below = error.instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  const params = error.params as { missingProperty?: string; additionalProperty?: string };
  const last =
    error.keyword === 'required'
      ? params.missingProperty
      : error.keyword === 'additionalProperties'
        ? params.additionalProperty
        : undefined;
  return [...below, ...(last === undefined ? [] : [last])].join('.');
}

/** The name to use instead of one that only answers have. */
const saidAs = (error: ErrorObject): unknown => (error.parentSchema as Json | undefined)?.['x-said-as'];

function codeOf(error: ErrorObject): IssueCode {
  return saidAs(error) === undefined ? (ISSUE_CODES[error.keyword] ?? 'custom') : 'unrecognized_keys';
}

function sentence(error: ErrorObject): string {
  if (saidAs(error) !== undefined) return `is a response-only name; use ${saidAs(error)}`;
  if (error.keyword === 'required') return 'is required';
  if (error.keyword === 'enum') return `must be one of ${(error.params as { allowedValues: unknown[] }).allowedValues.join(', ')}`;
  if (error.keyword === 'type') return `must be ${[(error.params as { type: string | string[] }).type].flat().join(' or ')}`;
  if (error.keyword === 'oneOf') return 'contains fields that cannot be combined';
  if (error.keyword === 'additionalProperties') return 'is not a known field';
  return error.message ?? 'is not valid';
}

function unique(issues: Issue[]): Issue[] {
  const seen = new Map<string, Issue>();
  for (const issue of issues) {
    const key = `${issue.code} ${issue.path}`;
    if (!seen.has(key)) seen.set(key, issue);
  }
  return [...seen.values()];
}
