/** Whom and what the action pipeline refuses, in the order of the protocol, and that nothing is written then (hrp §2.4, §2.5; decisions 7, 22, 30). */
import type { Actor } from '@countersign/contracts';
import { newId } from '@countersign/event-store';
import { digest } from '@countersign/evidence';
import { claim } from '@countersign/review';
import type { Asked } from '@countersign/review/fixture';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { type Station, startStation } from './fixture/station.js';

jest.setTimeout(60_000);

let station: Station;
beforeAll(async () => {
  station = await startStation();
});
afterAll(() => station.close());

const press = (id: string, body: unknown, actor: Actor = station.ann) => station.call('actOnReview', actor, id, { body });
const approve = (id: string, more: object = {}, actor: Actor = station.ann) => press(id, { action_id: 'approve', ...more }, actor);
const sendBack = (id: string) => press(id, { action_id: 'request_changes', feedback: 'Shorter.' });

describe('an action is refused', () => {
  it.each<[string, () => Actor, number, string]>([
    ['a key with every scope', () => station.agent, 403, 'human_actor_required'],
    ['a key of another project', () => ({ ...station.agent, project_id: station.elsewhere }), 403, 'human_actor_required'],
    ['somebody of another project', () => station.stranger, 404, 'review_not_found'],
  ])('to %s, whichever way', async (_who, actor, status, code) => {
    const id = await station.ask();
    const ways = [
      await approve(id, {}, actor()),
      await station.call('decideReview', actor(), id, { body: { decision: 'approved', reviewer: 'ann@example.org' } }),
      await station.call('retryReview', actor(), id, { body: { feedback: 'x' } }),
      await station.call('cancelReviewRequest', actor(), id),
    ];
    for (const way of ways) expect([way.status, way.code]).toEqual([status, code]);
    expect(await station.types(id)).toEqual(['review.requested']);
  });

  it('to a key before the review is looked up, and for what is no review to everybody', async () => {
    for (const id of [newId('rev'), newId('tpl'), 'nonsense']) {
      expect((await approve(id, {}, station.agent)).code).toBe('human_actor_required');
      expect((await approve(id)).code).toBe('review_not_found');
    }
  });

  it('to whoever answers for the request, as far as it would approve', async () => {
    const id = await station.ask({ actor: { ...station.agent, owner: station.ann.person_id }, on_behalf_of: station.bob });
    for (const actor of [station.ann, station.bob]) {
      const { status, code } = await approve(id, {}, actor);
      expect([status, code]).toEqual([403, 'requester_cannot_approve']);
    }
    expect((await approve(id, {}, station.chief)).status).toBe(200);
  });

  it.each<[string, Asked, object, number, string, string | undefined]>([
    ['no action', {}, {}, 400, 'validation_failed', 'body.action_id'],
    ['a digest that is none', {}, { action_id: 'approve', payload_digest: 'md5:1' }, 400, 'validation_failed', 'body.payload_digest'],
    ['an unknown action', {}, { action_id: 'launch' }, 400, 'action.unknown_action', 'action_id'],
    ['a wrong status', {}, { action_id: 'cancel_iteration' }, 409, 'action.status_not_allowed', undefined],
    ['no reason', {}, { action_id: 'reject' }, 400, 'action.feedback_required', 'feedback'],
    ['an empty reason', {}, { action_id: 'reject', feedback: '  ' }, 400, 'action.feedback_required', 'feedback'],
    ['another version', {}, { action_id: 'approve', version: 2 }, 409, 'version_mismatch', undefined],
    ['another digest', {}, { action_id: 'approve', payload_digest: digest({}) }, 409, 'payload_digest_mismatch', undefined],
    [
      'a field that is not editable',
      {},
      { action_id: 'approve', edited_payload: { recipients: 9 } },
      400,
      'field_not_editable',
      'edited_payload.recipients',
    ],
    [
      'an undeclared key',
      {},
      { action_id: 'approve', edited_payload: { tracking: {} } },
      400,
      'field_not_editable',
      'edited_payload.tracking',
    ],
    [
      'an edit of the wrong type',
      {},
      { action_id: 'approve', edited_payload: { subject: 7 } },
      400,
      'payload_invalid',
      'edited_payload.subject',
    ],
    [
      'no changes allowed',
      { config: { allow_request_changes: false } },
      { action_id: 'request_changes', feedback: 'x' },
      400,
      'request_changes_not_allowed',
      'action_id',
    ],
    [
      'an irreversible review unseen',
      { body: { irreversibility: 'irreversible' } },
      { action_id: 'approve', version: 1 },
      400,
      'version_required',
      'payload_digest',
    ],
  ])('for %s', async (_what, how, body, status, code, param) => {
    const id = await station.ask(how);
    const answer = await press(id, body);
    expect([answer.status, answer.code, answer.body.error?.param]).toEqual([status, code, param]);
    if (status === 409) expect(answer.body.error?.review).toMatchObject({ id, status: 'pending', current_version: 1 });
    expect(await station.types(id)).toEqual(['review.requested']);
  });

  it('while changes are awaited, and while somebody else holds the review', async () => {
    const id = await station.ask();
    await sendBack(id);
    for (const action_id of ['approve', 'reject'])
      expect((await press(id, { action_id, feedback: 'x' })).code).toBe('review_awaiting_changes');
    const held = await station.ask();
    await station.happen(held, station.bob, (state, now) => claim({ actor: station.bob }, state, now));
    const { status, body } = await approve(held);
    expect([status, body.error]).toMatchObject([
      409,
      { code: 'review_already_held', held_by: 'reviewer:bob@example.org', review: { id: held } },
    ]);
  });
});
