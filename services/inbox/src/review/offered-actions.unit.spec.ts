import { offeredActions as offeredByServer, PRESETS, type RequestedReview } from '@countersign/review';
import { describe, expect, it } from '@jest/globals';
import { actionOfKey, inOrder, offeredActions } from './offered-actions.js';
import { action, askedForChanges, decidedBy, mine, requested, shownAfter, type Told } from './wire-fixture.js';

const offeredHere = (story: Told) => offeredActions(shownAfter(story));

describe('what the page offers', () => {
  const { request_changes, approve, reject } = PRESETS;
  const later = { ...action('flag'), kind: 'side_effect' as const, enabled_for_status: ['awaiting_iteration' as const] };
  const configs = {
    'the template as it is': {},
    'a template that lists asking for changes': { config: { actions: [approve, reject, request_changes] } },
    'a template that forbids it': { config: { allow_request_changes: false } },
    'a template with an action for while changes are awaited': { config: { actions: [approve, reject, later] } },
    'a template of one decision': { config: { actions: [action('ship', { decision_value: 'approved' })] } },
  };
  const stories: [string, (asked: Told) => Told][] = [
    ['pending', (story) => story],
    ['awaiting changes', (story) => (story.state.status === 'none' ? story : askedForChanges(story))],
    ['decided', (story) => decidedBy(mine, 'approve', story)],
  ];
  const cases = Object.entries(configs).flatMap(([name, how]) => stories.map(([when, tell]) => [name, when, how, tell] as const));

  it.each(cases)('for %s, %s, is what the server offers', (_name, _when, how, tell) => {
    let story: Told;
    try {
      story = tell(requested(how));
    } catch {
      // The template has no action that leads there.
      story = requested(how);
    }
    expect(offeredHere(story)).toEqual(offeredByServer(story.state as RequestedReview));
  });

  it('is nothing once the review is settled', () => {
    expect(offeredHere(decidedBy(mine, 'approve'))).toEqual([]);
  });
});

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
