/** What the gateway's own description says of bodies and parameters: their schemas, and examples of what is right. */
import type { OpenApi } from '../e2e/answers.js';
import type { Route } from './target.js';

export type Schema = {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  if?: Schema;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  format?: string;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
  minProperties?: number;
  maxProperties?: number;
  'x-later'?: Schema;
  'x-lenient'?: boolean;
};

interface Described {
  operationId: string;
  parameters?: { $ref?: string; name: string; in: string; schema: Schema }[];
  requestBody?: { content: Record<string, { schema: Schema; examples?: Record<string, { $ref: string }> }> };
}

function describedIn(document: OpenApi, route: Route): Described {
  const { [route.method.toLowerCase()]: described } = document.paths[route.path] ?? {};
  if (described?.operationId !== route.id) throw new Error(`The description has no ${route.id}.`);
  return described as unknown as Described;
}

const bodyIn = (document: OpenApi, route: Route) => describedIn(document, route).requestBody?.content['application/json'];

export function resolved(document: OpenApi, schema: Schema): Schema {
  if (schema.$ref === undefined) return schema;
  const name = schema.$ref.split('/').at(-1) ?? '';
  return document.components.schemas?.[name] as Schema;
}

export function bodySchema(document: OpenApi, route: Route): Schema {
  return resolved(document, bodyIn(document, route)?.schema ?? {});
}

/** Bodies the route would take, the fullest first. */
export function examplesOf(document: OpenApi, route: Route): Record<string, unknown>[] {
  const named = (document.components.examples ?? {}) as Record<string, { value: Record<string, unknown> }>;
  const examples = Object.values(bodyIn(document, route)?.examples ?? {}).flatMap(({ $ref }) => named[$ref.split('/').at(-1) ?? ''] ?? []);
  if (route.body && examples.length === 0) throw new Error(`The description of ${route.id} has no example of its body.`);
  return examples.map(({ value }) => value).sort((a, b) => JSON.stringify(b).length - JSON.stringify(a).length);
}

/** Query parameters of a route. */
export function queryOf(document: OpenApi, route: Route): { name: string; schema: Schema }[] {
  return (describedIn(document, route).parameters ?? []).filter((parameter) => parameter.in === 'query');
}
