/** Out of the lists and back; nothing is ever removed (decision 20). */
import type { Actor } from '@countersign/contracts';
import { newId } from '@countersign/event-store';
import { recordExecution, redeem, withdraw } from '@countersign/review';
import { PAYLOAD } from '@countersign/review/fixture';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { type Station, startStation } from './fixture/station.js';

jest.setTimeout(60_000);

let station: Station;
beforeAll(async () => {
  station = await startStation();
});
afterAll(() => station.close());

const archive = (id: string, actor: Actor = station.ann) => station.call('archiveReview', actor, id);
const unarchive = (id: string, actor: Actor = station.ann) => station.call('unarchiveReview', actor, id);
const remove = (id: string, actor: Actor = station.ann) => station.call('deleteReview', actor, id);
const approved = async () => {
  const id = await station.ask();
  await station.call('actOnReview', station.ann, id, { body: { action_id: 'approve' } });
  return id;
};
const withdrawn = async () => {
  const id = await station.ask();
  await station.happen(id, station.agent, (state, now) => withdraw({ actor: station.agent }, state, now));
  return id;
};

it('archiving and bringing back leave the outcome as it was', async () => {
  for (const [id, status] of [[await approved(), 'decided'] as const, [await withdrawn(), 'expired'] as const]) {
    const before = await station.shown(id);
    const put = await archive(id);
    expect([put.status, put.body]).toMatchObject([200, { status: 'archived', decision: before.decision, decided_at: before.decided_at }]);
    const event = (await station.facts(id)).at(-1);
    expect(put.headers['countersign-seen']).toBe(`${event?.position}.${event?.bucket}`);
    expect((await archive(id)).headers['idempotent-replay']).toBe('true');
    const back = await unarchive(id);
    expect(back.body).toEqual({ ...before, updated_at: back.body.updated_at, status });
    expect((await unarchive(id)).headers['idempotent-replay']).toBe('true');
    expect(await station.types(id)).toEqual([...(await station.types(id)).slice(0, 2), 'review.archived', 'review.unarchived']);
  }
});

it('deleting is archiving: everything is still there', async () => {
  const id = await approved();
  const { status, body } = await remove(id);
  expect([status, body]).toEqual([200, { ok: true }]);
  expect(await station.shown(id)).toMatchObject({ status: 'archived', payload: PAYLOAD, decision: 'approved' });
  expect((await remove(id)).headers['idempotent-replay']).toBe('true');
});

it('what is open is not put away, and what was never put away is not brought back', async () => {
  const id = await station.ask();
  for (const way of [archive, remove]) {
    const { status, body } = await way(id);
    expect([status, body.error]).toMatchObject([409, { code: 'review_not_settled', review: { id, status: 'pending' } }]);
  }
  const { status, body } = await unarchive(id);
  expect([status, body.error]).toMatchObject([409, { code: 'review_not_archived', review: { status: 'pending' } }]);
  expect(await station.types(id)).toEqual(['review.requested']);
});

it('what is put away decides nothing any more, and its approval is still what runs', async () => {
  const id = await approved();
  await archive(id);
  const again = await station.call('actOnReview', station.bob, id, { body: { action_id: 'reject', feedback: 'x' } });
  expect([again.status, again.code]).toEqual([409, 'action.status_not_allowed']);
  expect(again.body.error?.review).toMatchObject({ status: 'archived', decision: 'approved' });
  const { agent } = station;
  const presented = { value: PAYLOAD };
  await station.happen(id, agent, (state, now) => redeem({ actor: agent, redemption_id: newId('rdm'), presented }, state, now));
  await station.happen(id, agent, (state, now) =>
    recordExecution({ actor: agent, execution_id: newId('exe'), status: 'succeeded' }, state, now),
  );
  expect((await unarchive(id)).body).toMatchObject({ status: 'decided', redemption: {}, executions: [{ status: 'succeeded' }] });
});

describe('it is for people of the project and for keys that may tidy', () => {
  it('as their scopes and templates allow', async () => {
    const id = await approved();
    const templateId = (await station.shown(id)).template_id ?? '';
    const allowed: Actor[] = [station.bob, station.chief, station.agent, { ...station.agent, template_ids: [templateId] }];
    for (const actor of allowed) {
      expect([(await archive(id, actor)).status, (await unarchive(id, actor)).status]).toEqual([200, 200]);
    }
    const refused: [Actor, string][] = [
      [{ ...station.agent, scopes: ['reviews:create', 'reviews:read'] }, '403 forbidden'],
      [{ ...station.agent, template_ids: [newId('tpl')] }, '403 template_not_allowed'],
      [{ ...station.agent, project_id: station.elsewhere }, '404 review_not_found'],
      [station.stranger, '404 review_not_found'],
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
