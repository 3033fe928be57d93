/** Whom and what the action pipeline refuses, in the order of the protocol, and that nothing is written then (HRP §2.4, §2.5; decisions 7, 22, 30). */
import type { Actor } from '@countersign/contracts';
import { newId } from '@countersign/event-store';
import { digest } from '@countersign/evidence';
import { claim } from '@countersign/review';
import { type Asked, within } from '@countersign/review/fixture';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Server, startServer } from './fixture/server.js';

let server: Server;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

const press = (id: string, body: unknown, actor: Actor = server.ann) => server.call('actOnReview', actor, id, { body });
const approve = (id: string, more: object = {}, actor: Actor = server.ann) => press(id, { action_id: 'approve', ...more }, actor);
const sendBack = (id: string) => press(id, { action_id: 'request_changes', feedback: 'Shorter.' });

describe('an action is refused', () => {
  it.each<[string, () => Actor, number, string]>([
    ['a key with every scope', () => server.agent, 403, 'human_actor_required'],
    ['a key of another project', () => ({ ...server.agent, project_id: server.elsewhere }), 403, 'human_actor_required'],
    ['somebody of another project', () => server.stranger, 404, 'review_not_found'],
  ])('to %s, whichever way', async (_who, actor, status, code) => {
    const id = await server.ask();
    const ways = [
      await approve(id, {}, actor()),
      await server.call('decideReview', actor(), id, { body: { decision: 'approved', reviewer: 'ann@example.org' } }),
      await server.call('retryReview', actor(), id, { body: { feedback: 'x' } }),
      await server.call('cancelReviewRequest', actor(), id),
    ];
    for (const way of ways) expect([way.status, way.code]).toEqual([status, code]);
    expect(await server.types(id)).toEqual(['review.requested']);
  });

  it('to a key before the review is looked up, and for what is no review to everybody', async () => {
    for (const id of [newId('rev'), newId('tpl'), 'nonsense']) {
      expect((await approve(id, {}, server.agent)).code).toBe('human_actor_required');
      expect((await approve(id)).code).toBe('review_not_found');
    }
  });

  it('to whoever answers for the request, as far as it would approve', async () => {
    const id = await server.ask({ actor: { ...server.agent, owner: server.ann.person_id }, on_behalf_of: server.bob });
    for (const actor of [server.ann, server.bob]) {
      const { status, code } = await approve(id, {}, actor);
      expect([status, code]).toEqual([403, 'requester_cannot_approve']);
    }
    expect((await approve(id, {}, server.chief)).status).toBe(200);
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
    const id = await server.ask(how);
    const answer = await press(id, body);
    expect([answer.status, answer.code, answer.body.error?.param]).toEqual([status, code, param]);
    if (status === 409) expect(answer.body.error?.review).toMatchObject({ id, status: 'pending', current_version: 1 });
    expect(await server.types(id)).toEqual(['review.requested']);
  });

  it('while changes are awaited, and while somebody else holds the review', async () => {
    const id = await server.ask();
    await sendBack(id);
    for (const action_id of ['approve', 'reject'])
      expect((await press(id, { action_id, feedback: 'x' })).code).toBe('review_awaiting_changes');
    const held = await server.ask();
    await server.happen(held, server.bob, (state, now) => claim({ actor: server.bob }, state, now));
    const { status, body } = await approve(held);
    expect([status, body.error]).toMatchObject([
      409,
      { code: 'review_already_held', held_by: 'reviewer:bob@example.org', review: { id: held } },
    ]);
  });
});

describe('the deprecated routes refuse as the actions they stand for', () => {
  const decide = (id: string, body: object, actor: Actor = server.ann) => server.call('decideReview', actor, id, { body });
  const retry = (id: string, body: object = {}) => server.call('retryReview', server.ann, id, { body: { feedback: 'x', ...body } });
  const cancel = (id: string, body: object = {}) => server.call('cancelReviewRequest', server.ann, id, { body });
  const seen = { version: 7, payload_digest: digest({}) };
  const decided = async () => {
    const id = await server.ask();
    await approve(id, {}, server.bob);
    return id;
  };
  const waiting = async () => {
    const id = await server.ask();
    await sendBack(id);
    return id;
  };
  const held = async (open = server.ask) => {
    const id = await open();
    await server.happen(id, server.bob, (state, now) => claim({ actor: server.bob }, state, now));
    return id;
  };
  const asked = (how: Asked) => () => server.ask(how);
  const archived = async () => {
    const id = await decided();
    await server.call('archiveReview', server.ann, id);
    return id;
  };
  const only = (decision_value: 'approved' | 'rejected', more: object = {}): Asked => ({
    config: { actions: [{ id: 'one', label: 'One', kind: 'decision', decision_value, ...more }] },
  });

  it.each<[string, () => Promise<string>, object]>([
    ['review_already_decided', decided, { decision: 'approved' }],
    ['review_awaiting_changes', waiting, { decision: 'approved' }],
    ['review_already_held', held, { decision: 'approved' }],
    ['action.status_not_allowed', archived, { decision: 'approved' }],
    ['action.unknown_action', asked(only('rejected')), { decision: 'approved' }],
    ['action.feedback_required', asked(only('approved', { requires_feedback: true })), { decision: 'approved' }],
    ['version_mismatch', asked({}), { decision: 'approved', version: 7 }],
    ['payload_digest_mismatch', asked({}), { decision: 'rejected', payload_digest: digest({}) }],
    ['version_required', asked({ body: { irreversibility: 'irreversible' } }), { decision: 'approved' }],
    ['field_not_editable', asked({}), { decision: 'edited', edited_payload: { recipients: 9 } }],
    ['payload_invalid', asked({}), { decision: 'edited', edited_payload: { subject: 9 } }],
  ])('decide: %s', async (code, open, body) => {
    expect((await decide(await open(), body)).code).toBe(code);
  });

  it('decide: requester_cannot_approve, as long as it would approve', async () => {
    const id = await server.ask({ on_behalf_of: server.ann });
    expect((await decide(id, { decision: 'edited', edited_payload: { subject: 'x' } })).code).toBe('requester_cannot_approve');
    expect((await decide(id, { decision: 'rejected' })).status).toBe(200);
  });

  it.each<[string, () => Promise<string>, object]>([
    ['review_already_decided', decided, {}],
    ['review_already_held', held, {}],
    ['action.status_not_allowed', waiting, { feedback: 'other' }],
    ['action.feedback_required', asked({}), { feedback: ' ' }],
    ['version_mismatch', asked({}), seen],
    ['payload_digest_mismatch', asked({}), { payload_digest: seen.payload_digest }],
    ['request_changes_not_allowed', asked({ config: { allow_request_changes: false } }), {}],
  ])('retry: %s', async (code, open, body) => {
    expect((await retry(await open(), body)).code).toBe(code);
  });

  it.each<[string, () => Promise<string>, object]>([
    ['review_already_decided', decided, {}],
    ['review_already_held', () => held(waiting), {}],
    ['action.status_not_allowed', asked({}), {}],
    ['version_mismatch', waiting, seen],
    ['payload_digest_mismatch', waiting, { payload_digest: seen.payload_digest }],
  ])('cancel-request: %s', async (code, open, body) => {
    expect((await cancel(await open(), body)).code).toBe(code);
  });

  it('all three: review_expired', async () => {
    const id = await server.ask(within('expire', 60));
    await server.db.advanceClock(60);
    for (const answer of [await decide(id, { decision: 'approved' }), await retry(id), await cancel(id)])
      expect(answer.code).toBe('review_expired');
  });
});
