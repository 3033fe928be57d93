/**
 * What a person changed in the fields of a review, before they decide.
 *
 * E1 An edit keeps what was typed as it was typed; its value is what would be sent.
 * E2 What is sent holds the changed keys and no others: the server merges key by key (decision 3).
 * E3 An edit that says what the payload says already is none (decision 4).
 */
import type { TemplateField } from '@countersign/contracts';
import { equalJson } from './equal-json.js';
import { readTyped } from './typed-values.js';

export type Payload = Readonly<Record<string, unknown>>;

export interface Edit {
  /** As it was typed; absent where the editor has no text. */
  text?: string;
  value: unknown;
  /** Why it cannot be sent as it is. */
  problem?: string;
}

export type Edits = Readonly<Record<string, Edit>>;

export function valueAt(payload: Payload, name: string): unknown {
  return Object.hasOwn(payload, name) ? payload[name] : undefined;
}

const isAbsent = (value: unknown): boolean => value === undefined || value === null;

/** The edit that some typed text makes of a field. */
export function typed(field: TemplateField, text: string): Edit {
  const { value, problem } = readTyped(field, text);
  return problem === undefined ? { text, value } : { text, value, problem };
}

/** The edit that a choice makes of a field. */
export function chosen(value: unknown): Edit {
  return { value };
}

/** Whether the edit changes anything; something that cannot be sent yet does. */
export function changes(payload: Payload, name: string, edit: Edit): boolean {
  if (edit.problem !== undefined) return true;
  const before = valueAt(payload, name);
  if (isAbsent(before) && (isAbsent(edit.value) || edit.value === '')) return false;
  return !equalJson(before, edit.value);
}

/** The edits that change the payload, without those that came to nothing. */
export function standing(payload: Payload, edits: Edits): Edits {
  return Object.fromEntries(Object.entries(edits).filter(([name, edit]) => changes(payload, name, edit)));
}

/** What would be sent: changed keys whose value can be (E2). Undefined when nothing was changed. */
export function editedPayload(payload: Payload, edits: Edits): Record<string, unknown> | undefined {
  const sendable = Object.entries(standing(payload, edits)).filter(([, edit]) => edit.problem === undefined);
  return sendable.length === 0 ? undefined : Object.fromEntries(sendable.map(([name, edit]) => [name, edit.value]));
}

/** Fields whose edit cannot be sent, by name. */
export function problems(edits: Edits): [name: string, problem: string][] {
  return Object.entries(edits).flatMap(([name, { problem }]) => (problem === undefined ? [] : [[name, problem]]));
}

/** Edits as they were saved: of those fields that may still be edited. */
export function editsOf(fields: readonly TemplateField[], saved: Payload): Edits {
  const editable = new Set(fields.filter((field) => field.editable).map((field) => field.name));
  return Object.fromEntries(
    Object.entries(saved)
      .filter(([name]) => editable.has(name))
      .map(([name, value]) => [name, chosen(value)]),
  );
}
