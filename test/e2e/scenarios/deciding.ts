/** A person decides, and what was decided goes out. */
import { digest } from '@countersign/evidence';
import { until } from '@countersign/platform/fixture';
import { expect } from '@jest/globals';
import { DRAFT } from '../server.js';
import { arrived, hook, log, type Scenario } from './scenario.js';

export const approve: Scenario = async (server, moment) => {
  const path = hook();
  const { id } = await server.ask({ callback_url: server.receiver.url(path) });
  await moment();
  const waiting = server.agent.do('getReview', { path: { id }, query: { wait: 30 } });
  const first = await Promise.race([waiting.then(() => 'answered'), server.agent.review(id).then(() => 'waits')]);
  expect(first).toBe('waits');
  const decided = await server.admin.act(id, 'approve');
  expect(await waiting).toMatchObject({ id, status: 'decided', decision: 'approved' });
  await moment();
  expect(decided).toMatchObject({ status: 'decided', decision: 'approved', approved_value: DRAFT, approved_digest: digest(DRAFT) });
  const [, delivered] = await arrived(server, path, ['review.action_taken', 'review.decided']);
  expect(delivered?.json).toMatchObject({ review_id: id, decision: 'approved', approved_digest: digest(DRAFT) });
  await moment();

  const other = { ...DRAFT, subject: 'Your money' };
  const mismatch = await server.agent.try('redeemReview', { path: { id }, body: { value: other } });
  expect([mismatch.status, mismatch.body.error]).toMatchObject([409, { code: 'digest_mismatch', paths: ['/subject'] }]);
  const redemption = await server.agent.do('redeemReview', { path: { id }, body: { value: DRAFT, executor: 'mailer-1' } });
  await moment();
  const again = await server.agent.try('redeemReview', { path: { id }, body: { digest: digest(DRAFT) } });
  expect([again.status, again.body.error]).toMatchObject([409, { code: 'already_redeemed', redemption: { id: redemption.id } }]);
  await server.agent.do('recordExecution', { path: { id }, body: { redemption_id: redemption.id, status: 'succeeded' } });
  await moment();
  await arrived(server, path, ['review.action_taken', 'review.decided', 'review.redeemed', 'review.executed']);
  expect(await server.agent.review(id)).toMatchObject({ redemption: { id: redemption.id }, executions: [{ status: 'succeeded' }] });
  expect(await log(server, id, 'review.executed')).toEqual(['review.requested', 'review.decided', 'review.redeemed', 'review.executed']);
};

export const edit: Scenario = async (server, moment) => {
  const path = hook();
  const { id, payload_digest } = await server.ask({ callback_url: server.receiver.url(path) });
  const uneditable = await server.admin.refused('actOnReview', {
    path: { id },
    body: { action_id: 'approve', edited_payload: { to: 'eve@evil.example' } },
  });
  expect(uneditable).toEqual([400, 'field_not_editable']);
  await moment();
  const merged = { ...DRAFT, subject: 'Your order is on its way' };
  const decided = await server.admin.act(id, 'approve', { version: 1, payload_digest, edited_payload: { subject: merged.subject } });
  await moment();
  expect(decided).toMatchObject({ decision: 'edited', approved_value: merged, approved_digest: digest(merged), shown: 'exact' });
  const [, delivered] = await arrived(server, path, ['review.action_taken', 'review.decided']);
  expect(delivered?.json).toMatchObject({ was_edited: true, approved_value: merged, edited_payload: { subject: merged.subject } });
  await moment();
  await until('the edit in the feedback', async () => {
    const { items } = await server.agent.do('listFeedback', { query: { outcome: 'edited', template: 'email-draft', limit: 100 } });
    return items.some((item) => item.review_id === id && item.was_edited === true);
  });
  await server.agent.do('redeemReview', { path: { id }, body: { value: merged } });
};

export const changes: Scenario = async (server, moment) => {
  const path = hook();
  const { id } = await server.ask({ callback_url: server.receiver.url(path) });
  await moment();
  await server.admin.act(id, 'request_changes', { feedback: 'Name the carrier.' });
  await moment();
  const [retried] = await arrived(server, path, ['review.retried']);
  expect(retried?.json).toMatchObject({ action: 'retry', feedback: 'Name the carrier.' });
  const early = await server.admin.refused('actOnReview', { path: { id }, body: { action_id: 'approve' } });
  expect(early).toEqual([409, 'review_awaiting_changes']);

  const better = { ...DRAFT, body: 'With Postal Express.' };
  expect(await server.agent.refused('resubmitReview', { path: { id }, body: { payload: better, version: 99 } })).toEqual([
    409,
    'version_mismatch',
  ]);
  const resubmit = () => server.agent.try('resubmitReview', { path: { id }, body: { payload: better, version: 2 } });
  expect((await resubmit()).body).toMatchObject({ status: 'pending', current_version: 2, payload: better });
  await moment();
  const repeat = await resubmit();
  expect([repeat.status, repeat.body.current_version]).toEqual([200, 2]);
  const stale = await server.admin.refused('actOnReview', { path: { id }, body: { action_id: 'approve', version: 1 } });
  expect(stale).toEqual([409, 'version_mismatch']);
  const decided = await server.admin.act(id, 'approve', { version: 2 });
  await moment();
  expect(decided).toMatchObject({ decision: 'approved', approved_value: better, iteration_count: 1 });
  const { items } = await server.agent.do('listReviewVersions', { path: { id } });
  expect(items.map((item) => [item.version, item.feedback])).toEqual([
    [2, 'Name the carrier.'],
    [1, null],
  ]);
  await arrived(server, path, ['review.retried', 'review.action_taken', 'review.decided']);
};

export const reject: Scenario = async (server, moment) => {
  const path = hook();
  const { id } = await server.ask({ callback_url: server.receiver.url(path) });
  expect(await server.admin.refused('actOnReview', { path: { id }, body: { action_id: 'reject' } })).toEqual([
    400,
    'action.feedback_required',
  ]);
  await moment();
  const decided = await server.admin.act(id, 'reject', { feedback: 'Wrong customer.' });
  await moment();
  expect(decided).toMatchObject({ decision: 'rejected', approved_value: null, approved_digest: null, feedback: 'Wrong customer.' });
  expect(await server.agent.refused('redeemReview', { path: { id }, body: { value: DRAFT } })).toEqual([409, 'not_approved']);
  await arrived(server, path, ['review.action_taken', 'review.decided']);
  expect(await log(server, id, 'review.decided')).toEqual(['review.requested', 'review.decided']);
};

/** Everybody clicks at once: one decides, everybody else is told what was decided. */
export const twoPeople: Scenario = async (server, moment) => {
  const path = hook();
  const { id } = await server.ask({ callback_url: server.receiver.url(path) });
  await moment();
  const clicks = await Promise.all([
    ...Array.from({ length: 4 }, () => server.admin.try('actOnReview', { path: { id }, body: { action_id: 'approve' } })),
    ...Array.from({ length: 4 }, () =>
      server.reviewer.try('actOnReview', { path: { id }, body: { action_id: 'reject', feedback: 'No.' } }),
    ),
  ]);
  await moment();
  const review = await server.agent.review(id);
  const approved = review.decision === 'approved';
  const [winner, loser] = approved ? [clicks.slice(0, 4), clicks.slice(4)] : [clicks.slice(4), clicks.slice(0, 4)];
  // The winner's own clicks are one click: answered, and not refused.
  expect(winner.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  for (const { status, body } of loser) {
    expect([status, body.error]).toMatchObject([409, { code: 'review_already_decided', review: { decision: review.decision } }]);
  }
  expect(await log(server, id, 'review.decided')).toEqual(['review.requested', 'review.decided']);
  await arrived(server, path, ['review.action_taken', 'review.decided']);
};
