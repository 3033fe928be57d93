/** Out of the lists and back; nothing is ever removed (decision 20). */
import type { Actor } from '@countersign/contracts';
import { newId } from '@countersign/event-store';
import { recordExecution, redeem, withdraw } from '@countersign/review';
import { PAYLOAD } from '@countersign/review/fixture';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Server, startServer } from './fixture/server.js';

let server: Server;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

const archive = (id: string, actor: Actor = server.ann) => server.call('archiveReview', actor, id);
const unarchive = (id: string, actor: Actor = server.ann) => server.call('unarchiveReview', actor, id);
const remove = (id: string, actor: Actor = server.ann) => server.call('deleteReview', actor, id);
const approved = async () => {
  const id = await server.ask();
  await server.call('actOnReview', server.ann, id, { body: { action_id: 'approve' } });
  return id;
};
const withdrawn = async () => {
  const id = await server.ask();
  await server.happen(id, server.agent, (state, now) => withdraw({ actor: server.agent }, state, now));
  return id;
};

it('archiving and bringing back leave the outcome as it was', async () => {
  for (const [id, status] of [[await approved(), 'decided'] as const, [await withdrawn(), 'expired'] as const]) {
    const before = await server.shown(id);
    const put = await archive(id);
    expect([put.status, put.body]).toMatchObject([200, { status: 'archived', decision: before.decision, decided_at: before.decided_at }]);
    const event = (await server.facts(id)).at(-1);
    expect(put.headers['countersign-seen']).toBe(`${event?.position}.${event?.bucket}`);
    expect((await archive(id)).headers['idempotent-replay']).toBe('true');
    const back = await unarchive(id);
    expect(back.body).toEqual({ ...before, updated_at: back.body.updated_at, status });
    expect((await unarchive(id)).headers['idempotent-replay']).toBe('true');
    expect(await server.types(id)).toEqual([...(await server.types(id)).slice(0, 2), 'review.archived', 'review.unarchived']);
  }
});

it('deleting is archiving: everything is still there', async () => {
  const id = await approved();
  const { status, body } = await remove(id);
  expect([status, body]).toEqual([200, { ok: true }]);
  expect(await server.shown(id)).toMatchObject({ status: 'archived', payload: PAYLOAD, decision: 'approved' });
  expect((await remove(id)).headers['idempotent-replay']).toBe('true');
});

it('what is open is not put away, and what was never put away is not brought back', async () => {
  const id = await server.ask();
  for (const way of [archive, remove]) {
    const { status, body } = await way(id);
    expect([status, body.error]).toMatchObject([409, { code: 'review_not_settled', review: { id, status: 'pending' } }]);
  }
  const { status, body } = await unarchive(id);
  expect([status, body.error]).toMatchObject([409, { code: 'review_not_archived', review: { status: 'pending' } }]);
  expect(await server.types(id)).toEqual(['review.requested']);
});

it('what is put away decides nothing any more, and its approval is still what runs', async () => {
  const id = await approved();
  await archive(id);
  const again = await server.call('actOnReview', server.bob, id, { body: { action_id: 'reject', feedback: 'x' } });
  expect([again.status, again.code]).toEqual([409, 'action.status_not_allowed']);
  expect(again.body.error?.review).toMatchObject({ status: 'archived', decision: 'approved' });
  const { agent } = server;
  const presented = { value: PAYLOAD };
  await server.happen(id, agent, (state, now) => redeem({ actor: agent, redemption_id: newId('rdm'), presented }, state, now));
  await server.happen(id, agent, (state, now) =>
    recordExecution({ actor: agent, execution_id: newId('exe'), status: 'succeeded' }, state, now),
  );
  expect((await unarchive(id)).body).toMatchObject({ status: 'decided', redemption: {}, executions: [{ status: 'succeeded' }] });
});

describe('it is for people of the project and for keys that may tidy', () => {
  it('as their scopes and templates allow', async () => {
    const id = await approved();
    const templateId = (await server.shown(id)).template_id ?? '';
    const allowed: Actor[] = [server.bob, server.chief, server.agent, { ...server.agent, template_ids: [templateId] }];
    for (const actor of allowed) {
      expect([(await archive(id, actor)).status, (await unarchive(id, actor)).status]).toEqual([200, 200]);
    }
    const refused: [Actor, string][] = [
      [{ ...server.agent, scopes: ['reviews:create', 'reviews:read'] }, '403 forbidden'],
      [{ ...server.agent, template_ids: [newId('tpl')] }, '404 review_not_found'],
      [{ ...server.agent, project_id: server.elsewhere }, '404 review_not_found'],
      [server.stranger, '404 review_not_found'],
    ];
    for (const [actor, expected] of refused) {
      for (const way of [archive, unarchive, remove]) {
        const { status, code } = await way(id, actor);
        expect(`${status} ${code}`).toBe(expected);
      }
    }
    for (const none of [newId('rev'), 'nonsense']) {
      for (const way of [archive, unarchive, remove]) expect((await way(none)).code).toBe('review_not_found');
    }
  });
});
