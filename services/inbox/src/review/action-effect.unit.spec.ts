import { describe, expect, it } from '@jest/globals';
import { effectInWords, fateOfEdits, feedbackWanted } from './action-effect.js';
import { action, askedForChanges, requested, shownAfter } from './wire-fixture.js';

describe('what an action does', () => {
  it('goes without saying for the built-in ones', () => {
    const offered = [requested(), askedForChanges()].flatMap((story) => shownAfter(story).available_actions);
    const plain = offered.filter(({ id }) => /^(approve|reject|request_changes|cancel_iteration|reject_from_iteration)$/.test(id));
    expect(new Set(plain.map(effectInWords))).toEqual(new Set([null]));
    expect(plain.length).toBeGreaterThan(3);
  });
  it.each([
    ['Reject', { decision_value: 'approved' as const }, 'Records: approved'],
    ['Approve', { decision_value: 'rejected' as const }, 'Records: rejected'],
    ['Ship it', { decision_value: 'approved' as const }, 'Records: approved'],
    ['approve ', { decision_value: 'approved' as const }, 'Records: approved'],
    ['Approve', { kind: 'iteration' as const }, 'Sends it back to the agent'],
    ['Approve', { kind: 'side_effect' as const }, 'Decides nothing'],
    ['constructor', { kind: 'side_effect' as const }, 'Decides nothing'],
  ])('is said of “%s” %j: %s', (label, more, words) => {
    expect(effectInWords(action('it', { label, ...more }))).toBe(words);
  });
});

describe('of several actions', () => {
  const [yes, no, again, flag] = [
    action('Ship', { decision_value: 'approved' }),
    action('Reject', { decision_value: 'rejected', requires_feedback: true }),
    action('Request changes', { kind: 'iteration', requires_feedback: true }),
    action('Flag', { kind: 'side_effect' }),
  ];

  it('the page says what becomes of edits', () => {
    expect(fateOfEdits([yes, again, flag, no])).toBe(
      'Your edits are approved with “Ship”, go to the agent as a suggestion with “Request changes” and are not sent with “Reject”.',
    );
    expect(fateOfEdits([no, action('Close', {})])).toBe('Your edits are not sent with “Reject” and “Close”.');
    expect(fateOfEdits([flag])).toBe('');
  });

  it('the page says which want feedback', () => {
    expect(feedbackWanted([yes, flag])).toBe('Optional.');
    expect(feedbackWanted([no, again])).toBe('Required.');
    expect(feedbackWanted([yes, no, again, action('Send back', { kind: 'iteration', requires_feedback: true })])).toBe(
      'Required for “Reject”, “Request changes” and “Send back”, otherwise optional.',
    );
  });
});
