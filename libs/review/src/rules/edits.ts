/** What a person changed before deciding (decisions 3, 4; HRP §2.5). */
import { equalJson } from '@countersign/evidence';
import { type ReviewRefusal, refuse } from '../refusals.js';
import type { RequestedReview } from '../state.js';
import { checkPayload } from './payload.js';

export interface Edit {
  /** Top-level keys whose value really differs, sorted; the order of members inside a value says nothing. */
  changed_keys: string[];
  /** The edit as it was sent, or null when it changes nothing. */
  edited_payload: Record<string, unknown> | null;
  /** The payload with the edit merged key by key. */
  merged: Record<string, unknown>;
}

export function editOf(payload: Record<string, unknown>, edited: Record<string, unknown> = {}): Edit {
  const changed = Object.keys(edited).filter((key) => !Object.hasOwn(payload, key) || !equalJson(payload[key], edited[key]));
  if (changed.length === 0) return { changed_keys: [], edited_payload: null, merged: payload };
  return { changed_keys: changed.sort(), edited_payload: edited, merged: { ...payload, ...edited } };
}

/** Every changed key is one the review's own fields call editable, and what comes out is what the fields declare (decision 8). */
export function checkEdit(review: RequestedReview, edit: Edit): ReviewRefusal | null {
  if (edit.edited_payload === null) return null;
  const editable = new Set(review.fields.filter((field) => field.editable).map((field) => field.name));
  const offending = edit.changed_keys.filter((key) => !editable.has(key));
  if (offending.length > 0) {
    return refuse('field_not_editable', `Not editable: ${offending.join(', ')}.`, {
      param: `edited_payload.${offending[0]}`,
      details: offending.map((key) => ({ path: `edited_payload.${key}`, message: 'is not editable', code: 'custom' })),
    });
  }
  return checkPayload(review.fields, edit.merged, 'edited_payload');
}
