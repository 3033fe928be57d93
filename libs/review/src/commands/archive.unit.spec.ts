import { describe, expect, it } from '@jest/globals';
import { agent, ann, asked, at, bob, DAY, doing, empty, foreignAgent, stranger, within } from '../review-fixture.js';
import type { ReviewState } from '../state.js';
import { archive, unarchive } from './archive.js';
import { withdraw } from './submit.js';

type Who = Parameters<typeof archive>[0]['actor'];
const away = (actor: Who) => (state: ReviewState, now: string) => archive({ actor }, state, now);
const back = (actor: Who) => (state: ReviewState, now: string) => unarchive({ actor }, state, now);

const decided = () => asked().when(doing(bob, 'approve')).next;
const withdrawn = () => asked().when((s, now) => withdraw({ actor: agent }, s, now)).next;

describe('archiving', () => {
  it.each([
    ['decided', decided(), ann],
    ['expired', withdrawn(), agent],
  ])('takes a %s review away and brings it back as it was', (status, story, actor) => {
    const led = story.after(5).when(away(actor));
    expect(led.types).toEqual(['review.archived']);
    expect(led.next.state).toMatchObject({ status: 'archived', archived_at: at(5), archived_by: { kind: actor.kind } });
    const again = led.next.after(5).when(back(actor));
    expect(again.types).toEqual(['review.unarchived']);
    expect(again.next.state).toEqual({ ...story.state, updated_at: at(10) });
    expect(again.next.state).toMatchObject({ status });
  });

  it('records the end of a window nobody had recorded, and archives it', () => {
    const led = asked(within('expire')).after(DAY).when(away(ann));
    expect(led.types).toEqual(['review.expired', 'review.archived']);
  });

  it('is already so, either way', () => {
    expect(decided().when(away(ann)).next.when(away(bob))).toMatchObject({ types: [], code: null });
    expect(decided().when(back(ann))).toMatchObject({ types: [], code: null });
  });

  it.each([
    ['an open review', asked(), ann, 'review_not_settled', 'review_not_archived'],
    ['a review of another project', decided(), stranger, 'review_not_found', 'review_not_found'],
    ['a review of another project, by a key', decided(), foreignAgent, 'review_not_found', 'review_not_found'],
    ['a key without the scope', decided(), { ...agent, scopes: ['reviews:read' as const] }, 'forbidden', 'forbidden'],
    ['a key limited to other templates', decided(), { ...agent, template_ids: ['tpl_x'] }, 'review_not_found', 'review_not_found'],
    ['no review', empty(), ann, 'review_not_found', 'review_not_found'],
  ])('is refused: %s', (_what, story, actor, code, backCode) => {
    expect(story.when(away(actor)).code).toBe(code);
    expect(story.when(back(actor)).code).toBe(backCode);
  });
});
