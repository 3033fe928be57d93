import { describe, expect, it } from '@jest/globals';
import { payloadDifference } from './payload-difference.js';

const fields = [{ name: 'subject', type: 'text', label: 'Subject', editable: true, required: false } as const];

describe('the difference of two payloads', () => {
  it('names the keys that differ by their labels, fields first', () => {
    const differences = payloadDifference({ x: 1, subject: 'a', same: [1] }, { subject: 'b', same: [1], y: { z: 2 } }, fields);
    expect(differences.map(({ label, kind }) => [label, kind])).toEqual([
      ['Subject', 'changed'],
      ['x', 'removed'],
      ['y', 'added'],
    ]);
    expect(differences.at(-1)?.pieces).toEqual([{ kind: 'added', text: '{\n  "z": 2\n}' }]);
  });
  it('does not mind the order of members', () => {
    expect(payloadDifference({ a: { b: 1, c: 2 } }, { a: { c: 2, b: 1 } }, fields)).toEqual([]);
  });
});
