import { describe, expect, it } from '@jest/globals';
import { holderOf } from './holder.js';

const me = { email: 'ann@example.org' };

describe('who holds a review', () => {
  it.each([
    [null, 'reviewer', { kind: 'nobody' }],
    ['reviewer:ann@example.org', 'reviewer', { kind: 'me' }],
    ['reviewer:bob@example.org', 'reviewer', { kind: 'other', name: 'bob@example.org' }],
    ['role:reviewer', 'reviewer', { kind: 'me' }],
    ['role:admin', 'reviewer', { kind: 'other', name: 'the admins' }],
  ])('%s, to a %s', (held_by, role, holder) => {
    expect(holderOf({ held_by }, me, role)).toEqual(holder);
  });
});
