import type { Review } from '@countersign/contracts';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { changeDesk, type Desk, type DeskEvent, hasTyped, isOpen, openDesk, ownDraft } from './desk.js';
import { chosen } from './difference/edits.js';
import { judgedAlike } from './judged.js';
import { askedForChanges, decidedBy, mine, requested, resubmitted, shownAfter, theirs } from './wire-fixture.js';

const first = shownAfter(requested());
const second = shownAfter(resubmitted({ subject: 'Hello again', body: 'Dear all' }));
const settled = shownAfter(decidedBy(theirs, 'approve'));
const awaited = shownAfter(askedForChanges());

const given = (...events: DeskEvent[]): Desk => events.reduce(changeDesk, openDesk(first));
const edit: DeskEvent = { type: 'typed', field: 'subject', edit: chosen('Good day') };
const feedback: DeskEvent = { type: 'feedback', text: 'Too long' };

describe('a desk', () => {
  it.each([
    ['nothing', null],
    ['an edit', edit],
    ['feedback', feedback],
  ])('keeps what is decided in place over %s that was typed, until the person turns to the other version', (_, typed) => {
    const waiting = given(...(typed ? [typed] : []), { type: 'loaded', review: second });
    expect(waiting).toMatchObject({ shown: first, waiting: second, arrived: null });
    const turned = changeDesk(waiting, { type: 'turned' });
    expect(turned).toMatchObject({ shown: second, waiting: null, arrived: 2, edits: waiting.edits, feedback: waiting.feedback });
  });

  it('keeps in place whatever else is judged, known to the page or not', () => {
    const later = { ...first, updated_at: second.updated_at };
    for (const other of [
      { ...later, template_fields: [] },
      { ...later, template: null },
      { ...later, available_actions: [] },
      { ...later, irreversibility: 'irreversible' as const },
      { ...later, payload: { subject: 'Other' } },
      { ...later, risk: 'of a later server' },
      awaited,
    ]) {
      expect(given({ type: 'loaded', review: other })).toMatchObject({ shown: first, waiting: other });
    }
    const held = { ...later, held_by: 'reviewer:bob@example.org', draft_payload: { subject: 'Bob’s' } };
    expect(given({ type: 'loaded', review: held })).toMatchObject({ shown: held, waiting: null });
  });

  it('keeps another version in place also when an action, or its repeat, answers with it', () => {
    expect(given({ type: 'acted', review: second, sent: 'all' })).toMatchObject({ shown: first, waiting: second });
    expect(given({ type: 'loaded', review: second }, { type: 'acted', review: awaited, sent: 'all' })).toMatchObject({
      shown: awaited,
      waiting: second,
    });
  });

  it('drops an edit that the other version makes by itself', () => {
    const same: DeskEvent = { type: 'typed', field: 'subject', edit: chosen('Hello again') };
    expect(given(same, { type: 'loaded', review: second }, { type: 'turned' }).edits).toEqual({});
  });

  it('keeps everything typed when the review is settled by somebody else', () => {
    const desk = given(edit, feedback, { type: 'loaded', review: settled });
    expect(desk).toMatchObject({ shown: settled, feedback: 'Too long', edits: { subject: { value: 'Good day' } } });
    expect(changeDesk(desk, { type: 'discarded' })).toMatchObject({ feedback: '', edits: {} });
  });

  it('forgets what was sent, and keeps what an action did not take up', () => {
    expect(given(edit, feedback, { type: 'acted', review: settled, sent: 'all' })).toMatchObject({
      shown: settled,
      edits: {},
      feedback: '',
    });
    const kept = given(edit, feedback, { type: 'acted', review: awaited, sent: 'nothing' });
    expect(kept).toMatchObject({ edits: { subject: { value: 'Good day' } }, feedback: 'Too long' });
    const words = given(edit, feedback, { type: 'acted', review: awaited, sent: 'feedback' });
    expect(words).toMatchObject({ edits: { subject: { value: 'Good day' } }, feedback: '' });
  });

  it('has what was sent with a request for changes again once that is taken back, unless something else was typed since', () => {
    const asked = given(edit, feedback, { type: 'acted', review: awaited, sent: 'all' });
    const reopened = { ...first, updated_at: awaited.updated_at };
    const back = (takenBack: string | null): DeskEvent => ({ type: 'acted', review: reopened, sent: 'nothing', takenBack });
    expect(changeDesk(asked, back('Too long'))).toMatchObject({ feedback: 'Too long', edits: { subject: { value: 'Good day' } } });
    expect(changeDesk(asked, back(null)).feedback).toBe('');
    expect(changeDesk({ ...asked, feedback: 'Since' }, back('Too long')).feedback).toBe('Since');
  });

  it('does not let an older answer undo a newer one', () => {
    expect(given({ type: 'loaded', review: settled }, { type: 'loaded', review: first }).shown).toBe(settled);
    const waiting = given(edit, { type: 'loaded', review: second });
    expect(changeDesk(waiting, { type: 'loaded', review: first }).waiting).toBe(second);
  });

  it('takes an edit back', () => {
    expect(given(edit, { type: 'reverted', field: 'subject' }).edits).toEqual({});
    expect(given(edit, { type: 'typed', field: 'subject', edit: chosen('Hello') }).edits).toEqual({});
  });

  it('is open while pending and while changes are awaited', () => {
    expect([first, awaited, settled].map(isOpen)).toEqual([true, true, false]);
  });

  it('never changes what is judged unless the person turns to it, and throws nothing typed away', () => {
    const events = fc.oneof<fc.Arbitrary<DeskEvent>[]>(
      fc.constantFrom<Review>(first, awaited, second).map((review) => ({ type: 'loaded', review })),
      fc.constantFrom<DeskEvent>(edit, feedback, { type: 'armed', action: 'reject' }),
    );
    fc.assert(
      fc.property(fc.array(events, { maxLength: 12 }), (story) => {
        let desk = openDesk(first);
        for (const event of story) {
          const next = changeDesk(desk, event);
          expect(judgedAlike(next.shown, first)).toBe(true);
          if (hasTyped(desk)) expect(hasTyped(next)).toBe(true);
          desk = next;
        }
      }),
    );
  });
});

describe('the server’s draft', () => {
  const drafted = { ...first, draft_payload: { subject: 'Draft' }, draft_by: 'ann', draft_at: first.created_at };
  it('is taken up by whoever wrote it', () => {
    expect(ownDraft(drafted, { name: 'ann', email: mine.email })).toEqual({ subject: { value: 'Draft' } });
    expect(ownDraft(drafted, { name: 'bob', email: theirs.email })).toBeNull();
    expect(ownDraft(first, { name: 'ann', email: mine.email })).toBeNull();
  });
});
