import { type TSchema, validator } from '@countersign/contracts';
import { type DirectoryRefusal, refuse } from '../refusals.js';

/**
 * Why a fact could not be stated with these words, or null. Callers that do not come over HTTP (CLI, first start) have no contract in front
 * of them, so what they wrote is held against the event's own before anything is written.
 */
export function bodyRefusal(schema: TSchema, body: unknown): DirectoryRefusal | null {
  const result = validator(schema, 'exact')(body);
  if (result.ok) return null;
  const [{ path, message }] = result.issues;
  return path === 'slug'
    ? refuse('invalid_slug', 'A slug may contain only lowercase letters, digits and single hyphens.', { param: path })
    : refuse('validation_failed', `${path} ${message}.`, { param: path });
}
