/** Nobody decides in time. */
import { expect } from '@jest/globals';
import { DRAFT } from '../server.js';
import { arrived, decisionsOf, fresh, hook, log, type Scenario } from './scenario.js';

const HOUR = 3_600;

/** What each kind of timeout leads to, once and dated at its deadline. */
export function timeout(action: 'auto_approve' | 'auto_reject' | 'expire'): Scenario {
  return async (server, moment) => {
    const path = hook();
    const slug = fresh(`timeout-${action.replace('_', '-')}`);
    await server.publish({ slug, timeout_seconds: HOUR, timeout_action: action });
    const { id, expires_at } = await server.ask({ template: slug, callback_url: server.receiver.url(path) });
    await moment();
    await server.topology.advanceClock(HOUR - 600);
    expect((await server.agent.review(id)).status).toBe('pending');
    await moment();
    await server.topology.advanceClock(601);
    await moment();
    const review = await server.agent.review(id);
    const outcome = {
      auto_approve: {
        status: 'decided',
        decision: 'approved',
        decided_by: 'system:timeout',
        approved_value: DRAFT,
        decided_at: expires_at,
      },
      auto_reject: { status: 'decided', decision: 'rejected', decided_by: 'system:timeout', approved_value: null, decided_at: expires_at },
      expire: { status: 'expired', decision: null, decided_by: null, approved_value: null },
    }[action];
    expect(review).toMatchObject(outcome);
    const [delivered] = await arrived(server, path, [action === 'expire' ? 'review.expired' : 'review.decided']);
    expect(delivered?.json).not.toHaveProperty('reviewer');
    const types = await log(server, id, action === 'expire' ? 'review.expired' : 'review.decided');
    expect(types.filter((type) => type === 'review.reminded').length).toBeLessThanOrEqual(1);
    expect(decisionsOf(types)).toBe(1);
  };
}

/** A decision after the deadline is refused, recorded, and settles the review even when no timer has fired. */
export const late: Scenario = async (server, moment) => {
  const { id } = await server.ask({ timeout: { seconds: HOUR, action: 'expire' } });
  await moment();
  await server.topology.advanceClock(HOUR + 1);
  const attempt = await server.admin.try('actOnReview', { path: { id }, body: { action_id: 'approve' } });
  expect([attempt.status, attempt.body.error]).toMatchObject([
    409,
    { code: 'review_expired', review: { id, status: 'expired', decision: null } },
  ]);
  await moment();
  const types = await log(server, id, 'review.late_attempt_refused');
  expect(types.filter((type) => type === 'review.expired')).toHaveLength(1);
  expect(types).not.toContain('review.decided');
};
