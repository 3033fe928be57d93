import { describe, expect, it } from '@jest/globals';
import {
  agent,
  ann,
  asked,
  at,
  bob,
  chief,
  DAY,
  doing,
  empty,
  foreignAgent,
  ownedAgent,
  owner,
  person,
  stranger,
  within,
} from '../review-fixture.js';
import type { ReviewState } from '../state.js';
import { assign, claim, release, unassign } from './hold.js';

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

  it('holds what one’s own key asked: only approving is for others', () => {
    expect(asked({ actor: ownedAgent }).when(claiming(owner)).types).toEqual(['review.claimed']);
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

describe('leaving the project', () => {
  const leaving =
    ({ person_id }: typeof ann) =>
    (state: ReviewState, now: string) =>
      unassign({ person_id, reason: 'membership_ended' }, state, now);
  const assigned = (hold: Parameters<typeof assign>[0]['hold'] = null) =>
    asked(within('expire')).when((state, now) =>
      assign({ actor: chief, assignee: 'ann@example.org', assignee_id: ann.person_id, hold }, state, now),
    ).next;

  it('frees what was asked of the person', () => {
    const led = asked({ ...within('expire'), assignee: ann })
      .after(5)
      .when(leaving(ann));
    expect(led.types).toEqual(['review.unassigned']);
    expect(led.body('review.unassigned')).toEqual({
      person_id: ann.person_id,
      reason: 'membership_ended',
      previous_assignee: 'ann@example.org',
      holder: null,
    });
    expect(led.next.state).toMatchObject({ status: 'pending', assignee: null, assignee_id: null, updated_at: at(5) });
    expect(led.decision).toMatchObject({ notAfter: at(DAY), cancel: [] });
  });

  it('frees what the person was given and holds, so that anybody may decide it', () => {
    const led = assigned(annHolds).when(leaving(ann));
    expect(led.body('review.unassigned')).toMatchObject({ previous_assignee: 'ann@example.org', holder: annHolds });
    expect(led.next.state).toMatchObject({ assignee: null, held_by: null, held_at: null });
    expect(led.next.when(doing(bob, 'approve')).code).toBeNull();
  });

  it('leaves what is somebody else’s', () => {
    expect(assigned().when(leaving(bob)).types).toEqual([]);
    const led = assigned().when(claiming(bob)).next.when(leaving(ann));
    expect(led.body('review.unassigned')).toMatchObject({ previous_assignee: 'ann@example.org', holder: null });
    expect(led.next.state).toMatchObject({ assignee: null, held_by: holdOf('bob', bob.person_id) });
    const other = assigned().when(claiming(bob)).next.when(leaving(bob));
    expect(other.body('review.unassigned')).toMatchObject({ previous_assignee: null, holder: holdOf('bob', bob.person_id) });
    expect(other.next.state).toMatchObject({ assignee: 'ann@example.org', assignee_id: ann.person_id, held_by: null });
  });

  it('leaves what is a role’s', () => {
    const role = { ref: 'role:reviewer', person_id: null };
    const story = asked().when((state, now) => assign({ actor: chief, assignee: 'role:reviewer', hold: role }, state, now)).next;
    expect(story.when(leaving(ann)).types).toEqual([]);
  });

  it('frees nothing twice, and nothing that is settled or does not exist', () => {
    expect(assigned(annHolds).when(leaving(ann)).next.when(leaving(ann)).types).toEqual([]);
    expect(assigned().when(doing(ann, 'approve')).next.when(leaving(ann)).types).toEqual([]);
    expect(assigned().after(DAY).when(leaving(ann)).types).toEqual([]);
    expect(empty().when(leaving(ann)).types).toEqual([]);
  });

  it('records a wait for changes that ended before it', () => {
    const story = asked({ assignee: ann, config: { changes_timeout_hours: 1 } }).when(
      doing(ann, 'request_changes', { feedback: 'x' }),
    ).next;
    const led = story.after(3600).when(leaving(ann));
    expect(led.types).toEqual(['review.changes_timed_out', 'review.unassigned']);
    expect(led.decision).toMatchObject({ notBefore: at(3600), cancel: [{ kind: 'changes_timeout' }] });
    expect(led.next.state).toMatchObject({ status: 'pending', assignee: null });
  });

  it('lets an assignment say anew who the person is', () => {
    const story = assigned();
    const again = (assignee_id: string | null) => (state: ReviewState, now: string) =>
      assign({ actor: chief, assignee: 'ann@example.org', assignee_id, hold: null }, state, now);
    expect(story.when(again(ann.person_id)).types).toEqual([]);
    expect(story.when(again(bob.person_id)).types).toEqual(['review.assigned']);
  });
});
