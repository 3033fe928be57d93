import { describe, expect, it } from '@jest/globals';
import { assign, claim, release } from './hold.js';
import { agent, ann, asked, at, bob, chief, DAY, doing, empty, foreignAgent, person, stranger, within } from './review-fixture.js';
import type { ReviewState } from './state.js';

type Who = Parameters<typeof claim>[0]['actor'];
const claiming =
  (actor: Who, force = false) =>
  (state: ReviewState, now: string) =>
    claim({ actor, force }, state, now);
const releasing = (actor: Who) => (state: ReviewState, now: string) => release({ actor }, state, now);
const holdOf = (name: string, id: string) => ({ ref: `reviewer:${name}@example.org`, person_id: id });
const annHolds = holdOf('ann', ann.person_id);
const assigning =
  (actor: Who, assignee = 'bob@example.org', hold: Parameters<typeof assign>[0]['hold'] = null) =>
  (state: ReviewState, now: string) =>
    assign({ actor, assignee, hold }, state, now);

const held = () => asked().when(claiming(ann)).next;
const decided = () => asked().when(doing(bob, 'approve')).next;

describe('claiming', () => {
  it('holds the review', () => {
    const led = asked(within('expire')).after(4).when(claiming(ann));
    expect(led.types).toEqual(['review.claimed']);
    expect(led.next.state).toMatchObject({ held_by: annHolds, held_at: at(4), status: 'pending' });
    expect(led.decision).toMatchObject({ notAfter: at(DAY), cancel: [] });
  });

  it('holds it already', () => {
    expect(held().when(claiming(ann))).toMatchObject({ types: [], code: null });
  });

  it('holds what changes are awaited for, through the answer', () => {
    const story = held().when(doing(ann, 'request_changes', { feedback: 'x' })).next;
    expect(story.state).toMatchObject({ status: 'awaiting_iteration', held_by: annHolds });
  });

  it('by force takes it from its holder', () => {
    const led = held().after(9).when(claiming(chief, true));
    expect(led.body('review.claimed')).toMatchObject({ by: { id: chief.person_id }, previous: annHolds });
    expect(led.next.state).toMatchObject({ held_by: { person_id: chief.person_id }, held_at: at(9), hold_lost_by: annHolds });
    expect(led.next.when(claiming(chief, true))).toMatchObject({ types: [], code: null });
  });

  it('turns a hold of a role into a person’s', () => {
    const story = asked().when(assigning(chief, 'role:admin', { ref: 'role:admin', person_id: null })).next;
    expect(story.when(claiming(chief)).types).toEqual(['review.claimed']);
  });

  it.each([
    ['somebody else holds it', held(), bob, false, 'review_already_held'],
    ['by force, by a reviewer', held(), bob, true, 'forbidden'],
    ['decided', decided(), ann, false, 'review_already_decided'],
    ['over', asked(within('expire')).after(DAY), ann, false, 'review_expired'],
    ['none', empty(), ann, false, 'review_not_found'],
    ['another project’s', asked(), stranger, false, 'review_not_found'],
    ['by a key', asked(), agent, false, 'human_actor_required'],
    ['by force, by a key', asked(), foreignAgent, true, 'human_actor_required'],
  ])('is refused: %s', (_what, story, actor, force, code) => {
    expect(story.when(claiming(actor, force)).code).toBe(code);
  });

  it('too late records the end, and no attempt: a claim decides nothing', () => {
    expect(asked(within('expire')).after(DAY).when(claiming(ann)).types).toEqual(['review.expired']);
  });
});

describe('releasing', () => {
  it('is the holder’s, or an admin’s', () => {
    for (const actor of [ann, chief]) {
      const led = held().when(releasing(actor));
      expect(led.body('review.released')).toMatchObject({ by: { id: actor.person_id }, holder: annHolds });
      expect(led.next.state).toMatchObject({ held_by: null, held_at: null, hold_lost_by: null });
    }
  });

  it('is already so where nobody holds it', () => {
    expect(asked().when(releasing(bob))).toMatchObject({ types: [], code: null });
  });

  it('tells a holder who lost the review meanwhile', () => {
    const led = held().when(claiming(chief, true)).next.when(releasing(ann));
    expect(led.refusal).toMatchObject({ code: 'review_hold_changed', extra: { held_by: 'reviewer:chief@example.org' } });
  });

  it.each([
    ['somebody else’s', held(), bob, 'not_holder'],
    ['decided', decided(), ann, 'review_already_decided'],
    ['by a key', held(), agent, 'human_actor_required'],
    ['another project’s', held(), stranger, 'review_not_found'],
  ])('is refused: %s', (_what, story, actor, code) => {
    expect(story.when(releasing(actor)).code).toBe(code);
  });

  it('is refused to somebody who never held it, though another lost it', () => {
    expect(held().when(claiming(chief, true)).next.when(releasing(bob)).code).toBe('not_holder');
  });
});

describe('assigning', () => {
  it('says whose it is, and leaves a hold alone', () => {
    const led = held().when(assigning(chief));
    expect(led.body('review.assigned')).toMatchObject({ assignee: 'bob@example.org', previous_assignee: null, hold: null });
    expect(led.next.state).toMatchObject({ assignee: 'bob@example.org', held_by: annHolds });
  });

  it('with a hold takes it from whoever had it', () => {
    const led = held().when(assigning(chief, 'bob@example.org', holdOf('bob', bob.person_id)));
    expect(led.next.state).toMatchObject({ held_by: { person_id: bob.person_id }, hold_lost_by: annHolds });
    expect(led.next.when(releasing(ann)).code).toBe('review_hold_changed');
  });

  it('is already so', () => {
    const hold = holdOf('bob', bob.person_id);
    const story = asked().when(assigning(chief, 'bob@example.org', hold)).next;
    expect(story.when(assigning(chief, 'bob@example.org', hold))).toMatchObject({ types: [], code: null });
    expect(story.when(assigning(chief))).toMatchObject({ types: [], code: null });
    expect(
      asked()
        .when(assigning(chief))
        .next.when(assigning(chief, 'bob@example.org', hold)).types,
    ).toEqual(['review.assigned']);
    expect(story.when(assigning(chief, 'bob@example.org', { ...hold, person_id: ann.person_id })).types).toEqual(['review.assigned']);
  });

  it.each([
    ['by a reviewer', asked(), ann, 'forbidden'],
    ['by a key', asked(), agent, 'human_actor_required'],
    ['another project’s', asked(), stranger, 'review_not_found'],
    ['by nobody of the project', asked(), person('eve', null), 'review_not_found'],
    ['decided', decided(), chief, 'review_already_decided'],
  ])('is refused: %s', (_what, story, actor, code) => {
    expect(story.when(assigning(actor)).code).toBe(code);
  });
});
