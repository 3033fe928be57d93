/**
 * Every event of every context by type and schema version: what the store checks an append against, and what AsyncAPI is made of.
 */
import { idOfMessage, type TSchema } from '../schema.js';
import { type Category, categoryOf } from '../topics.js';
import { type Issue, validator } from '../validate.js';
import * as delivery from './delivery.js';
import * as directory from './directory.js';
import * as review from './review.js';
import * as template from './template.js';

type Module = Record<string, unknown>;

const isSchema = (value: unknown): value is TSchema => typeof value === 'object' && value !== null && '$id' in value;

/** `review.decided.v1` → type `review.decided`, version 1. */
function collect(...modules: Module[]): ReadonlyMap<string, ReadonlyMap<number, TSchema>> {
  const events = new Map<string, Map<number, TSchema>>();
  for (const schema of modules.flatMap((module) => Object.values(module)).filter(isSchema)) {
    const [, type, version] = /^(.+)\.v(\d+)$/.exec(idOfMessage(schema)) ?? [];
    if (type === undefined) throw new Error(`${idOfMessage(schema)} does not end with its version, such as .v1.`);
    events.set(type, (events.get(type) ?? new Map()).set(Number(version), schema));
  }
  return events;
}

export const EVENTS = collect(review, template, directory, delivery);

/**
 * Types in the streams of some categories, without those named: what a subscription that handles those leaves (K10). Made from what this
 * release knows, so a type of a newer one is in neither and parks its stream.
 */
export function typesBut(categories: readonly Category[], handled: readonly string[]): string[] {
  return [...EVENTS.keys()].filter((type) => categories.includes(categoryOf(type)) && !handled.includes(type));
}

/** A writer made an event its contract does not allow: a bug of the writer, never the caller's doing. */
export class InvalidEventError extends Error {
  override readonly name = 'InvalidEventError';
  constructor(
    readonly type: string,
    readonly schemaVersion: number,
    readonly issues: readonly Issue[],
  ) {
    const told = issues.map((issue) => `${issue.path || 'body'} ${issue.message}`).join('; ');
    super(`${type} v${schemaVersion} does not keep to its contract: ${told}. Nothing was appended.`);
  }
}

/** @throws {InvalidEventError} for an unknown type or version, a body that breaks its schema, or a key the schema does not name. */
export function validateEvent(type: string, schemaVersion: number, body: unknown): void {
  const schema = EVENTS.get(type)?.get(schemaVersion);
  if (!schema) throw new InvalidEventError(type, schemaVersion, [{ path: '', message: 'has no schema', code: 'custom' }]);
  const result = validator(schema, 'exact')(body);
  if (!result.ok) throw new InvalidEventError(type, schemaVersion, result.issues);
}
