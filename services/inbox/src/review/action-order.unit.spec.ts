import { describe, expect, it } from '@jest/globals';
import { actionOfKey, inOrder } from './action-order.js';
import { action } from './wire-fixture.js';

describe('the order and the keys of actions', () => {
  const approve = action('yes', { decision_value: 'approved' });
  const reject = action('no', { decision_value: 'rejected' });
  const again = action('again', { kind: 'iteration' });
  const flag = action('flag', { kind: 'side_effect' });

  it('begins with approving and ends with rejecting', () => {
    expect(inOrder([flag, reject, again, approve])).toEqual([approve, again, flag, reject]);
  });
  it('is the template’s where it says one', () => {
    const first = { ...reject, order: 1 };
    expect(inOrder([approve, first])).toEqual([first, approve]);
  });
  it.each([
    ['a', approve],
    ['r', reject],
    ['c', again],
    ['x', undefined],
  ])('gives %s its meaning, whatever the template calls it', (key, meant) => {
    expect(actionOfKey(key, [flag, reject, again, approve])).toBe(meant);
  });
});
