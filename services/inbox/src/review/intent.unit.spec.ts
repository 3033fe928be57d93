import type { Review, TemplateAction } from '@countersign/contracts';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { changeDesk, type Desk, type DeskEvent, openDesk } from './desk.js';
import { chosen } from './difference/edits.js';
import { asksFirst, asksWhy, type Intent, intentOf, stands, withReason } from './intent.js';
import { action, askedForChanges, decidedBy, requested, resubmitted, shownAfter, theirs } from './wire-fixture.js';

const first = shownAfter(requested());
const second = shownAfter(resubmitted({ subject: 'Wire 1 000 000', body: 'evil' }));
const awaited = shownAfter(askedForChanges());
const settled = shownAfter(decidedBy(theirs, 'approve'));
const approve = first.available_actions.find(({ id }) => id === 'approve') as TemplateAction;
const after = (desk: Desk, ...events: DeskEvent[]): Desk => events.reduce(changeDesk, desk);

describe('an intent', () => {
  it('is sent with what was shown when it was begun', () => {
    const desk = after(
      openDesk(first),
      { type: 'typed', field: 'subject', edit: chosen('Good day') },
      { type: 'feedback', text: 'Better' },
    );
    expect(intentOf(desk, approve)?.body).toEqual({
      action_id: 'approve',
      version: 1,
      payload_digest: first.payload_digest,
      feedback: 'Better',
      edited_payload: { subject: 'Good day' },
    });
  });

  it.each([
    ['another version', second],
    ['a request for changes', awaited],
    ['the end of the review', settled],
  ])('stands no longer once there is %s', (_, review) => {
    const desk = openDesk(first);
    const intent = intentOf(desk, approve) as Intent;
    expect(stands(intent, desk)).toBe(true);
    expect(stands(intent, after(desk, { type: 'loaded', review }))).toBe(false);
  });

  it('cannot be begun while another version waits, and is about that version after the person turned to it', () => {
    const waiting = after(openDesk(first), { type: 'loaded', review: second });
    expect(intentOf(waiting, approve)).toBeNull();
    const turned = after(waiting, { type: 'turned' });
    expect(intentOf(turned, approve)?.body).toMatchObject({ version: 2, payload_digest: second.payload_digest });
    // Begun on version 1, it does not come back to life on version 2.
    expect(stands(intentOf(openDesk(first), approve) as Intent, turned)).toBe(false);
  });

  it('never names a version the person did not turn to', () => {
    const events = fc.constantFrom<DeskEvent>(
      ...[first, awaited, second].map((review): DeskEvent => ({ type: 'loaded', review })),
      ...[awaited, second].map((review): DeskEvent => ({ type: 'acted', review, sent: 'all' })),
      { type: 'feedback', text: 'x' },
    );
    fc.assert(
      fc.property(fc.array(events, { maxLength: 10 }), (story) => {
        const intent = intentOf(after(openDesk(first), ...story), approve);
        if (intent) expect(intent.body.payload_digest).toBe(first.payload_digest);
      }),
    );
  });
});

describe('an action is asked about first', () => {
  const asked = (review: Review, chosen: TemplateAction, byKey = false) =>
    asksFirst(intentOf(openDesk(review), chosen) as Intent, { byKey });
  const offered = (review: Review, id: string) => review.available_actions.find((one) => one.id === id) as TemplateAction;
  const forGood: Review = { ...first, irreversibility: 'irreversible' };

  it.each<[string, boolean, Review, TemplateAction]>([
    ['where the template wants it', true, first, action('ship', { confirmation: true })],
    ['for a reject by name, which has it', true, first, offered(first, 'reject')],
    ['to approve what cannot be undone', true, forGood, approve],
    ['to close what the agent is working on', true, awaited, offered(awaited, 'reject_from_iteration')],
    ['not to approve', false, first, approve],
    ['not to approve what can be undone at a cost', false, { ...first, irreversibility: 'costly_reversible' }, approve],
    [
      'not to reject where the template says so, be it of what cannot be undone',
      false,
      forGood,
      action('no', { decision_value: 'rejected' }),
    ],
    ['not to request changes', false, first, offered(first, 'request_changes')],
    ['not to take that back', false, awaited, offered(awaited, 'cancel_iteration')],
  ])('%s; by a shortcut always', (_, expected, review, chosen) => {
    expect(asked(review, chosen)).toBe(expected);
    expect(asked(review, chosen, true)).toBe(true);
  });
});

describe('rejecting while changes are awaited', () => {
  const reject = awaited.available_actions.find(({ decision_value }) => decision_value === 'rejected') as TemplateAction;
  const begun = (desk: Desk, action = reject) => intentOf(desk, action) as Intent;

  it('asks for the reason that the template’s own reject requires', () => {
    const intent = begun(openDesk(awaited));
    expect(asksWhy(intent)).toBe(true);
    expect(withReason(intent, 'Too late').body.feedback).toBe('Too late');
  });

  it('does not ask for one that was typed, that no template requires, or of the template’s own actions', () => {
    expect(asksWhy(begun(after(openDesk(awaited), { type: 'feedback', text: 'Too late' })))).toBe(false);
    const lenient = { ...awaited, actions: awaited.actions.map((action) => ({ ...action, requires_feedback: false })) };
    expect(asksWhy(begun(openDesk(lenient)))).toBe(false);
    const own = first.available_actions.find(({ id }) => id === 'reject') as TemplateAction;
    const intent = begun(openDesk(first), own);
    expect([asksWhy(intent), withReason(intent, 'Too late')]).toEqual([false, intent]);
  });
});
