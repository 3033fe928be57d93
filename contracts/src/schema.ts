/**
 * How a message is declared: one TypeBox schema with a unique `$id`, kept in a registry that the validators and the generator read.
 *
 * S1. Every message has one `$id`, unique over all of contracts; declaring it twice fails at import.
 * S2. A message refers to another by `ref`, never by embedding it, so each schema is registered with ajv exactly once.
 * S3. Objects are open in the published schema, but for those of requests that take no other members (`strict`). Whether an unknown key is
 *     dropped, refused or kept is the validator's mode (validate.ts).
 */
import Type, { type Static, type TSchema, type TUnsafe } from 'typebox';

const registry = new Map<string, TSchema>();

/** Registers a schema as a message. `$id` is the name it has in OpenAPI, AsyncAPI and the examples. */
export function message<S extends TSchema>(id: string, schema: S): S {
  if (registry.has(id)) throw new Error(`Two schemas claim the $id ${id}.`);
  Object.assign(schema, { $id: id });
  registry.set(id, schema);
  return schema;
}

/**
 * A body that takes no members but its own, at any depth: a mistyped one is refused, not ignored. HRP drops what it does not know of what is sent
 * about reviews (HRP §1.2a), so those messages are not.
 */
export function strict<S extends TSchema>(id: string, schema: S): S {
  return message(id, Object.assign(schema, { additionalProperties: false }));
}

export const isStrict = (schema: TSchema): boolean => (schema as { additionalProperties?: unknown }).additionalProperties === false;

/** All messages by `$id`, in the order they were declared. */
export function messages(): ReadonlyMap<string, TSchema> {
  return registry;
}

/** The `$id` of a message; throws for a schema that is none. */
export function idOfMessage(schema: TSchema): string {
  const id = (schema as { $id?: string }).$id;
  if (id === undefined || registry.get(id) !== schema) throw new Error('This schema is no registered message.');
  return id;
}

export function ref<S extends TSchema>(schema: S): TUnsafe<Static<S>> {
  return Type.Unsafe<Static<S>>({ $ref: idOfMessage(schema) });
}

/** A closed vocabulary: `enum`, so that a wrong value is one error and not one for each member. */
export function choice<const V extends readonly string[]>(values: V, options: Record<string, unknown> = {}): TUnsafe<V[number]> {
  return Type.Unsafe<V[number]>({ type: 'string', enum: [...values], ...options });
}

/** The value or null. Widens `type` where it can, since an `anyOf` would report every branch. */
export function nullable<S extends TSchema>(schema: S): TUnsafe<Static<S> | null> {
  const plain = { ...schema } as TSchema & { type?: unknown; enum?: unknown[]; const?: unknown };
  if (typeof plain.type !== 'string' || plain.const !== undefined) {
    return Type.Unsafe<Static<S> | null>({ anyOf: [plain, { type: 'null' }] });
  }
  return Type.Unsafe<Static<S> | null>({
    ...plain,
    type: [plain.type, 'null'],
    ...(plain.enum ? { enum: [...plain.enum, null] } : {}),
  });
}

/** Any JSON object; its keys are the caller's. */
export function jsonObject(options: Record<string, unknown> = {}): TUnsafe<Record<string, unknown>> {
  return Type.Unsafe<Record<string, unknown>>({ type: 'object', ...options });
}

/** A map from any string to one kind of value. */
export function mapOf<S extends TSchema>(values: S, options: Record<string, unknown> = {}): TUnsafe<Record<string, Static<S>>> {
  return Type.Unsafe<Record<string, Static<S>>>({ type: 'object', additionalProperties: values, ...options });
}

/**
 * A field, or values of a field, the protocol knows and this server does not serve yet (decision 29): only `accepted` passes; what `later`
 * would accept is refused with `feature_not_available`, anything else with `validation_failed`.
 */
export function notYet<S extends TSchema>(accepted: S, later: TSchema = Type.Unknown()): S {
  return Object.assign({ ...accepted }, { 'x-later': { ...later } }) as S;
}

/** A whole field that is not served yet: absent or null is fine. */
export function notYetField(): TUnsafe<null> {
  return notYet(
    Type.Unsafe<null>({ type: 'null', description: 'Not supported yet; any value other than null is refused with feature_not_available.' }),
  );
}

/**
 * A name that only answers have, for what a request says under another: a value would be dropped as unknown, and the caller would believe it
 * took effect. Absent or null is fine; anything else is refused with the name to use.
 */
export function saidAs(name: string): TUnsafe<null> {
  const description = `Response-only name; use ${name} in requests. Only null is accepted.`;
  return Type.Unsafe<null>({ type: 'null', 'x-said-as': name, description });
}

export { type Static, type TSchema, Type };
