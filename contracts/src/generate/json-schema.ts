import { messages, type TSchema } from '../schema.js';

export type Json = Record<string, unknown>;

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);

/** A copy of a schema without `$id`, its references written by `toRef`. */
function rewritten(schema: unknown, toRef: (id: string) => string): unknown {
  if (Array.isArray(schema)) return schema.map((item) => rewritten(item, toRef));
  if (!isObject(schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([key]) => key !== '$id')
      .map(([key, value]) => [key, key === '$ref' && typeof value === 'string' ? toRef(value) : rewritten(value, toRef)]),
  );
}

/** Ids of the messages a schema refers to, directly or not, itself included where it is one; sorted. */
export function reached(...schemas: TSchema[]): string[] {
  const found = new Set<string>();
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(visit);
    else if (isObject(value)) {
      for (const id of [value.$id, value.$ref]) {
        if (typeof id !== 'string' || found.has(id)) continue;
        found.add(id);
        visit(messages().get(id));
      }
      Object.values(value).forEach(visit);
    }
  };
  schemas.forEach(visit);
  return [...found].sort();
}

/** One file for each message, referring to each other by file name. */
export function schemaFiles(): Map<string, Json> {
  return new Map(
    [...messages()].map(([id, schema]) => [
      `schemas/${id}.json`,
      {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        $id: `${id}.json`,
        ...(rewritten(schema, (other) => `${other}.json`) as Json),
      },
    ]),
  );
}

/** The named messages as `components.schemas` of OpenAPI or AsyncAPI. */
export function components(ids: string[]): Json {
  return Object.fromEntries(ids.map((id) => [id, rewritten(messages().get(id), componentRef)]));
}

export function componentRef(id: string): string {
  return `#/components/schemas/${id}`;
}

/** A schema in the body of a document: a reference where it is a message, the schema itself where it is not. */
export function inDocument(schema: TSchema): Json {
  const id = (schema as { $id?: string }).$id;
  return id !== undefined && messages().get(id) === schema ? { $ref: componentRef(id) } : (rewritten(schema, componentRef) as Json);
}
