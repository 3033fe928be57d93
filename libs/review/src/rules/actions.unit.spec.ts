import { describe, expect, it } from '@jest/globals';
import { asked, ESCALATE, SHIP } from '../review-fixture.js';
import type { RequestedReview } from '../state.js';
import { PRESETS, RESERVED_ACTION_IDS, resolveAction } from './actions.js';

describe('what HRP names', () => {
  it('asks twice before it says no', () => {
    expect(PRESETS.reject).toMatchObject({ confirmation: true, requires_feedback: true });
  });

  it('keeps the ids of the protocol’s own actions', () => {
    expect(RESERVED_ACTION_IDS).toEqual(['cancel_iteration', 'reject_from_iteration']);
  });
});

describe('an action by what the deprecated routes mean', () => {
  const later = { ...SHIP, id: 'ship_later' };
  const ask = { ...PRESETS.request_changes, id: 'ask' };
  const review = (actions = [SHIP, later, ask, PRESETS.reject, ESCALATE]) => asked({ config: { actions } }).state as RequestedReview;
  const idOf = (...args: Parameters<typeof resolveAction>) => resolveAction(...args)?.id;

  it('is the one of that meaning the caller names, else the first', () => {
    expect(idOf(review(), { alias: 'approved', value: 'ship_later' })).toBe('ship_later');
    expect(idOf(review(), { alias: 'approved', value: 'reject' })).toBe('ship');
    expect(idOf(review(), { alias: 'approved' })).toBe('ship');
    expect(idOf(review(), { alias: 'rejected' })).toBe('reject');
  });

  it('is the template’s own way to ask for changes, else the protocol’s', () => {
    expect(idOf(review(), { alias: 'request_changes' })).toBe('ask');
    expect(idOf(review([SHIP]), { alias: 'request_changes' })).toBe('request_changes');
  });
});
