import type { TemplateField } from '@countersign/contracts';
import { editOf } from '@countersign/review';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { changes, chosen, type Edits, editedPayload, editsOf, problems, standing, typed } from './edits.js';

const payload = { subject: 'Hello', amount: 12.5, tags: { a: 1, b: [2] }, note: null };
const amount: TemplateField = { name: 'amount', type: 'number', label: 'Amount', editable: true, required: true };

describe('an edit', () => {
  it.each<[string, unknown, boolean]>([
    ['subject', 'Hello', false],
    ['subject', 'Hello!', true],
    ['tags', { b: [2], a: 1 }, false],
    ['tags', { b: [2] }, true],
    ['note', '', false],
    ['note', 'x', true],
    ['absent', null, false],
    ['absent', false, true],
    ['subject', null, true],
  ])('of %s to %j changes something: %s', (name, value, does) => {
    expect(changes(payload, name, chosen(value))).toBe(does);
  });

  it('that cannot be sent stands, and is not sent', () => {
    const edits: Edits = { amount: typed(amount, '12,'), subject: chosen('Hi') };
    expect(standing(payload, edits)).toEqual(edits);
    expect(editedPayload(payload, edits)).toEqual({ subject: 'Hi' });
    expect(problems(edits)).toEqual([['amount', 'Enter a number, such as 12.50.']]);
  });

  it('keeps what was typed as it was typed', () => {
    expect(typed(amount, '12.0')).toEqual({ text: '12.0', value: 12 });
  });
});

describe('what is sent', () => {
  it('is nothing when nothing was changed', () => {
    expect(editedPayload(payload, { subject: chosen('Hello'), absent: chosen('') })).toBeUndefined();
  });

  it('is an edit to the server exactly when it is one here, and of the same keys', () => {
    const payloads = fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.jsonValue());
    fc.assert(
      fc.property(payloads, payloads, (before, after) => {
        const edits = Object.fromEntries(Object.entries(after).map(([key, value]) => [key, chosen(value)]));
        const sent = editedPayload(before, edits);
        const server = editOf(before, sent);
        expect(server.changed_keys).toEqual(Object.keys(sent ?? {}).sort());
        expect(server.merged).toEqual({ ...before, ...sent });
      }),
    );
  });
});

describe('a saved draft', () => {
  it('comes back as edits of the fields that may be edited', () => {
    const fields = [amount, { ...amount, name: 'subject', editable: false }];
    expect(editsOf(fields, { amount: 13, subject: 'no', other: 1 })).toEqual({ amount: { value: 13 } });
  });
});
