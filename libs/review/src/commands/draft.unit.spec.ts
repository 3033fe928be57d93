import { describe, expect, it } from '@jest/globals';
import { agent, ann, asked, bob, DAY, doing, empty, within } from '../review-fixture.js';
import { mayDraft } from './decide.js';
import { claim } from './hold.js';

describe('keeping a draft', () => {
  it.each([
    ['pending', asked(), ann, null],
    ['changes are awaited', asked().when(doing(ann, 'request_changes', { feedback: 'Shorter' })).next, ann, null],
    ['decided', asked().when(doing(bob, 'approve')).next, ann, 'not_pending'],
    ['over', asked(within('expire')).after(DAY), ann, 'not_pending'],
    ['somebody else’s', asked().when((s, now) => claim({ actor: bob }, s, now)).next, ann, 'review_already_held'],
    ['a key', asked(), agent, 'human_actor_required'],
    ['no review', empty(), ann, 'review_not_found'],
  ])('%s', (_what, story, actor, code) => {
    expect(mayDraft(actor, story.state, story.now)?.code ?? null).toBe(code);
  });

  it('may be half typed, but only of what may be changed', () => {
    const { state, now } = asked();
    expect(mayDraft(ann, state, now, { subject: 7 })).toBeNull();
    expect(mayDraft(ann, state, now, { recipients: 7 })?.code).toBe('field_not_editable');
  });
});
