import { newId } from '../ids.js';
import type { AppendRequest, AppendResult } from '../types.js';

export const CATEGORIES = { review: 'rev', template: 'tpl', person: 'per' };
export const project = newId('prj');

/** A request of one event for one stream. */
export function one(
  stream: string,
  expectedVersion: number | 'any',
  body: unknown = {},
  extra: Partial<AppendRequest> = {},
): AppendRequest {
  return { streams: [{ stream, project, expectedVersion, events: [{ type: 'happened', body }] }], meta: { request_id: 'req_1' }, ...extra };
}

/** The result of an append that has to have been one. */
export function appended(result: AppendResult): Extract<AppendResult, { status: 'appended' }> {
  if (result.status !== 'appended') throw new Error(`expected an append, got ${JSON.stringify(result)}`);
  return result;
}
