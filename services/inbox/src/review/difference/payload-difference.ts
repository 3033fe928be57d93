/** Which top-level keys differ between two payloads, and how each reads as text. */
import type { TemplateField } from '@countersign/contracts';
import { type Payload, valueAt } from './edits.js';
import { equalJson } from './equal-json.js';
import { type Piece, textDifference } from './text-difference.js';

export interface KeyDifference {
  key: string;
  /** The field's label; the key itself where the template declares none. */
  label: string;
  kind: 'added' | 'removed' | 'changed';
  pieces: Piece[];
}

/** A value as text to be compared and read. */
export function readable(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}

export function payloadDifference(before: Payload, after: Payload, fields: readonly TemplateField[]): KeyDifference[] {
  const labels = new Map(fields.map((field) => [field.name, field.label]));
  const keys = new Set([...labels.keys(), ...Object.keys(before), ...Object.keys(after)]);
  return [...keys].flatMap((key) => {
    const [left, right] = [valueAt(before, key), valueAt(after, key)];
    if (equalJson(left, right)) return [];
    const kind = left === undefined ? 'added' : right === undefined ? 'removed' : 'changed';
    return [{ key, label: labels.get(key) ?? key, kind, pieces: textDifference(readable(left), readable(right)) } satisfies KeyDifference];
  });
}
