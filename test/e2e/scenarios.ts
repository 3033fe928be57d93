/**
 * What the product is for, told once. A scenario names its moments; the caller may let anything happen at one of them, such as the death of
 * every process, and the scenario must end the same.
 *
 * Outcomes are judged from the outside: what callers were answered, what arrived at the receiver, and what the log holds.
 */
import type { AuditEvent } from '@countersign/contracts';
import { digest } from '@countersign/evidence';
import { until } from '@countersign/platform/fixture';
import { failing, type Received, verifyStandard } from '@countersign/testing';
import { expect } from '@jest/globals';
import { DRAFT, type Station } from './station.js';

export type Moment = () => Promise<void>;
export type Scenario = (station: Station, moment: Moment) => Promise<void>;

let paths = 0;
/** A path at the receiver that no other scenario uses. */
const hook = (): string => `/hook/${++paths}`;

/** Waits until a review's webhooks have arrived, by type and in order, and nothing was sent twice with another body. */
async function arrived(station: Station, path: string, types: string[]): Promise<Received[]> {
  await until(
    `${types.join(', ')} at ${path}; there: ${station.receiver.types(path).join(', ')}`,
    () => firsts(station, path).length >= types.length,
  );
  const received = firsts(station, path);
  expect(received.map((one) => one.headers['x-webhook-event'])).toEqual(types);
  for (const one of received) verifyStandard(one, station.topology.credentials.webhook_secret);
  return received;
}

/** The first arrival of each delivery. A copy after a crash is allowed; it has the same id and the same bytes. */
function firsts(station: Station, path: string): Received[] {
  const byId = new Map<string, Received>();
  for (const one of station.receiver.at(path)) {
    const id = one.headers['x-webhook-id'] ?? '';
    const first = byId.get(id);
    if (first) expect(one.body.equals(first.body)).toBe(true);
    else byId.set(id, one);
  }
  return [...byId.values()];
}

/** Types of a review's events, oldest first, as the audit log has them. */
async function log(station: Station, id: string): Promise<string[]> {
  let items: AuditEvent[] = [];
  await until(`the log of ${id}`, async () => {
    ({ items } = await station.admin.do('listAuditEvents', { query: { resource_id: id, limit: 100 } }));
    return items.length > 0;
  });
  return items.map((item) => item.action).reverse();
}

const decisionsOf = (types: string[]): number => types.filter((type) => type === 'review.decided' || type === 'review.expired').length;

export const approve: Scenario = async (station, moment) => {
  const path = hook();
  const { id } = await station.ask({ callback_url: station.receiver.url(path) });
  await moment();
  const decided = await station.admin.act(id, 'approve');
  await moment();
  expect(decided).toMatchObject({ status: 'decided', decision: 'approved', approved_value: DRAFT, approved_digest: digest(DRAFT) });
  const [, delivered] = await arrived(station, path, ['review.action_taken', 'review.decided']);
  expect(delivered?.json).toMatchObject({ review_id: id, decision: 'approved', approved_digest: digest(DRAFT) });
  await moment();

  const other = { ...DRAFT, subject: 'Your money' };
  const mismatch = await station.agent.try('redeemReview', { path: { id }, body: { value: other } });
  expect([mismatch.status, mismatch.body.error]).toMatchObject([409, { code: 'digest_mismatch', paths: ['/subject'] }]);
  const redemption = await station.agent.do('redeemReview', { path: { id }, body: { value: DRAFT, executor: 'mailer-1' } });
  await moment();
  const again = await station.agent.try('redeemReview', { path: { id }, body: { digest: digest(DRAFT) } });
  expect([again.status, again.body.error]).toMatchObject([409, { code: 'already_redeemed', redemption: { id: redemption.id } }]);
  await station.agent.do('recordExecution', { path: { id }, body: { redemption_id: redemption.id, status: 'succeeded' } });
  await moment();
  await arrived(station, path, ['review.action_taken', 'review.decided', 'review.redeemed', 'review.executed']);
  expect(await station.agent.review(id)).toMatchObject({ redemption: { id: redemption.id }, executions: [{ status: 'succeeded' }] });
  expect(await log(station, id)).toEqual(['review.requested', 'review.decided', 'review.redeemed', 'review.executed']);
};

export const edit: Scenario = async (station, moment) => {
  const path = hook();
  const { id, payload_digest } = await station.ask({ callback_url: station.receiver.url(path) });
  const uneditable = await station.admin.refused('actOnReview', {
    path: { id },
    body: { action_id: 'approve', edited_payload: { to: 'eve@evil.example' } },
  });
  expect(uneditable).toEqual([400, 'field_not_editable']);
  await moment();
  const merged = { ...DRAFT, subject: 'Your order is on its way' };
  const decided = await station.admin.act(id, 'approve', { version: 1, payload_digest, edited_payload: { subject: merged.subject } });
  await moment();
  expect(decided).toMatchObject({ decision: 'edited', approved_value: merged, approved_digest: digest(merged), shown: 'exact' });
  const [, delivered] = await arrived(station, path, ['review.action_taken', 'review.decided']);
  expect(delivered?.json).toMatchObject({ was_edited: true, approved_value: merged, edited_payload: { subject: merged.subject } });
  await moment();
  await until('the edit in the feedback', async () => {
    const { items } = await station.agent.do('listFeedback', { query: { outcome: 'edited', template: 'email-draft', limit: 100 } });
    return items.some((item) => item.review_id === id && item.was_edited === true);
  });
  await station.agent.do('redeemReview', { path: { id }, body: { value: merged } });
};

export const changes: Scenario = async (station, moment) => {
  const path = hook();
  const { id } = await station.ask({ callback_url: station.receiver.url(path) });
  await moment();
  await station.admin.act(id, 'request_changes', { feedback: 'Name the carrier.' });
  await moment();
  const [retried] = await arrived(station, path, ['review.retried']);
  expect(retried?.json).toMatchObject({ action: 'retry', feedback: 'Name the carrier.' });
  const early = await station.admin.refused('actOnReview', { path: { id }, body: { action_id: 'approve' } });
  expect(early).toEqual([409, 'review_awaiting_changes']);

  const better = { ...DRAFT, body: 'With Postal Express.' };
  expect(await station.agent.refused('resubmitReview', { path: { id }, body: { payload: better, version: 99 } })).toEqual([
    409,
    'version_mismatch',
  ]);
  const resubmit = () => station.agent.try('resubmitReview', { path: { id }, body: { payload: better, version: 2 } });
  expect((await resubmit()).body).toMatchObject({ status: 'pending', current_version: 2, payload: better });
  await moment();
  const repeat = await resubmit();
  expect([repeat.status, repeat.body.current_version]).toEqual([200, 2]);
  const stale = await station.admin.refused('actOnReview', { path: { id }, body: { action_id: 'approve', version: 1 } });
  expect(stale).toEqual([409, 'version_mismatch']);
  const decided = await station.admin.act(id, 'approve', { version: 2 });
  await moment();
  expect(decided).toMatchObject({ decision: 'approved', approved_value: better, iteration_count: 1 });
  const { items } = await station.agent.do('listReviewVersions', { path: { id } });
  expect(items.map((item) => [item.version, item.feedback])).toEqual([
    [2, 'Name the carrier.'],
    [1, null],
  ]);
  await arrived(station, path, ['review.retried', 'review.action_taken', 'review.decided']);
};

export const reject: Scenario = async (station, moment) => {
  const path = hook();
  const { id } = await station.ask({ callback_url: station.receiver.url(path) });
  expect(await station.admin.refused('actOnReview', { path: { id }, body: { action_id: 'reject' } })).toEqual([
    400,
    'action.feedback_required',
  ]);
  await moment();
  const decided = await station.admin.act(id, 'reject', { feedback: 'Wrong customer.' });
  await moment();
  expect(decided).toMatchObject({ decision: 'rejected', approved_value: null, approved_digest: null, feedback: 'Wrong customer.' });
  expect(await station.agent.refused('redeemReview', { path: { id }, body: { value: DRAFT } })).toEqual([409, 'not_approved']);
  await arrived(station, path, ['review.action_taken', 'review.decided']);
  expect(await log(station, id)).toEqual(['review.requested', 'review.decided']);
};

const HOUR = 3_600;

/** What each kind of timeout leads to, once and dated at its deadline. */
export function timeout(action: 'auto_approve' | 'auto_reject' | 'expire'): Scenario {
  return async (station, moment) => {
    const path = hook();
    const slug = `timeout-${action.replace('_', '-')}-${++paths}`;
    await station.publish({ slug, timeout_seconds: HOUR, timeout_action: action });
    const { id, expires_at } = await station.ask({ template: slug, callback_url: station.receiver.url(path) });
    await moment();
    await station.topology.advanceClock(HOUR - 600);
    expect((await station.agent.review(id)).status).toBe('pending');
    await moment();
    await station.topology.advanceClock(601);
    await moment();
    const review = await station.agent.review(id);
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
    const [delivered] = await arrived(station, path, [action === 'expire' ? 'review.expired' : 'review.decided']);
    expect(delivered?.json).not.toHaveProperty('reviewer');
    const types = await log(station, id);
    expect(types.filter((type) => type === 'review.reminded').length).toBeLessThanOrEqual(1);
    expect(decisionsOf(types)).toBe(1);
  };
}

/** A decision after the deadline is refused, recorded, and settles the review even when no timer has fired. */
export const late: Scenario = async (station, moment) => {
  const { id } = await station.ask({ timeout: { seconds: HOUR, action: 'expire' } });
  await moment();
  await station.topology.advanceClock(HOUR + 1);
  const attempt = await station.admin.try('actOnReview', { path: { id }, body: { action_id: 'approve' } });
  expect([attempt.status, attempt.body.error]).toMatchObject([
    409,
    { code: 'review_expired', review: { id, status: 'expired', decision: null } },
  ]);
  await moment();
  const types = await log(station, id);
  expect(types).toContain('review.late_attempt_refused');
  expect(types.filter((type) => type === 'review.expired')).toHaveLength(1);
  expect(types).not.toContain('review.decided');
};

export const idempotentCreate: Scenario = async (station, moment) => {
  const idempotency_key = `same-${++paths}`;
  const body = { template: 'email-draft', payload: DRAFT, idempotency_key };
  const answers = await Promise.all(Array.from({ length: 50 }, () => station.agent.try('createReview', { body })));
  const ids = new Set(answers.map(({ body: review }) => review.id));
  expect(ids.size).toBe(1);
  expect(answers.map(({ status }) => status).sort()).toEqual([...Array.from({ length: 49 }, () => 200), 201]);
  const [id] = [...ids] as [string];
  await moment();
  const again = await station.agent.try('createReview', { body, headers: { 'idempotency-key': idempotency_key } });
  expect([again.status, again.body.id, again.headers.get('idempotent-replay')]).toEqual([200, id, 'true']);
  const other = await station.agent.try('createReview', { body: { ...body, payload: { ...DRAFT, subject: 'Another' } } });
  expect([other.status, other.body.error]).toMatchObject([409, { code: 'idempotency_key_reused', review_id: id }]);
  expect(await station.agent.refused('createReview', { body, headers: { 'idempotency-key': 'another' } })).toEqual([
    400,
    'idempotency_key_mismatch',
  ]);
  await station.admin.act(id, 'approve');
  await moment();
  const settled = await station.agent.try('createReview', { body });
  expect([settled.status, settled.body.error]).toMatchObject([
    409,
    { code: 'idempotency_key_terminal_conflict', review_id: id, review: { status: 'decided', decision: 'approved' } },
  ]);
};

/** Everybody clicks at once: one decides, everybody else is told what was decided. */
export const twoPeople: Scenario = async (station, moment) => {
  const path = hook();
  const { id } = await station.ask({ callback_url: station.receiver.url(path) });
  await moment();
  const clicks = await Promise.all([
    ...Array.from({ length: 4 }, () => station.admin.try('actOnReview', { path: { id }, body: { action_id: 'approve' } })),
    ...Array.from({ length: 4 }, () =>
      station.reviewer.try('actOnReview', { path: { id }, body: { action_id: 'reject', feedback: 'No.' } }),
    ),
  ]);
  await moment();
  const review = await station.agent.review(id);
  const approved = review.decision === 'approved';
  const [winner, loser] = approved ? [clicks.slice(0, 4), clicks.slice(4)] : [clicks.slice(4), clicks.slice(0, 4)];
  // The winner's own clicks are one click: answered, and not refused.
  expect(winner.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  for (const { status, body } of loser) {
    expect([status, body.error]).toMatchObject([409, { code: 'review_already_decided', review: { decision: review.decision } }]);
  }
  expect(await log(station, id)).toEqual(['review.requested', 'review.decided']);
  await arrived(station, path, ['review.action_taken', 'review.decided']);
};

export const templateStates: Scenario = async (station, moment) => {
  const slug = `paused-${++paths}`;
  const { id } = await station.publish({ slug });
  await station.admin.do('pauseTemplate', { path: { id } });
  await moment();
  const ask = (template: string) => station.agent.refused('createReview', { body: { template, payload: { subject: 'x' } } });
  expect(await ask(slug)).toEqual([400, 'template_inactive']);
  await station.admin.do('resumeTemplate', { path: { id } });
  expect((await station.ask({ template: slug, payload: { subject: 'x' } })).status).toBe('pending');
  const draft = await station.admin.do('createTemplateDraft', { body: { title: 'A sample', amount: 3 } });
  await moment();
  expect(await ask(draft.id)).toEqual([400, 'template_draft']);
  expect(await ask('no-such-template')).toEqual([404, 'template_not_found']);
};

/** A stream that breaks is taken up where it was: nothing is missed, nothing comes twice. */
export const stream: Scenario = async (station, moment) => {
  const { Stream } = await import('./stream.js');
  const first = await Stream.open(station.agent);
  const { id } = await station.ask({ priority: 'high' });
  await first.until((frame) => frame.type === 'review.urgent' && frame.review_id === id);
  await moment();
  await first.close();
  await station.admin.act(id, 'request_changes', { feedback: 'Shorter.' });
  await station.agent.do('resubmitReview', { path: { id }, body: { payload: DRAFT, version: 2 } });
  await station.admin.act(id, 'approve');
  const second = await Stream.open(station.agent, first.lastEventId);
  await second.until((frame) => frame.type === 'review.decided' && frame.review_id === id);
  const own = [...first.frames, ...second.frames].filter((frame) => frame.review_id === id);
  await second.close();
  const types = own.map((frame) => frame.type);
  expect(types.filter((type) => type === 'review.created')).toHaveLength(1);
  expect(types.filter((type) => type === 'review.retried')).toHaveLength(1);
  expect(types.filter((type) => type === 'review.decided')).toHaveLength(1);
  const ids = [...first.ids, ...second.ids];
  expect(new Set(ids).size).toBe(ids.length);
};

/** Five failures and then a success; then one that never succeeds, its dead letter, and its replay. */
export const failingDelivery: Scenario = async (station, moment) => {
  const path = hook();
  const { id } = await station.ask({ callback_url: station.receiver.url(path, failing(5)) });
  await station.agent.do('withdrawReview', { path: { id }, body: { reason: 'No longer needed.' } });
  await moment();
  const delivery = async (review: string) =>
    until('the delivery', async () => (await station.admin.do('listDeliveries', { query: { review_id: review } })).items[0]);
  /** Sets the clock forward by each delay in turn, until the delivery has ended. */
  const played = async (review: string) => {
    let waited: string | null = null;
    return until(`the delivery of ${review} to end`, async () => {
      const { status, last_attempt_at, next_attempt_at } = await delivery(review);
      if (status !== 'pending') return status;
      if (last_attempt_at !== null && next_attempt_at !== null && next_attempt_at !== waited) {
        waited = next_attempt_at;
        await station.topology.advanceClock((Date.parse(next_attempt_at) - Date.parse(last_attempt_at)) / 1000 + 1);
      }
      return false;
    });
  };
  expect(await played(id)).toBe('delivered');
  const tries = station.receiver.at(path);
  expect(tries.length).toBeGreaterThanOrEqual(6);
  expect(new Set(tries.map((one) => one.body.toString('hex'))).size).toBe(1);
  expect(new Set(tries.map((one) => one.headers['x-webhook-id'])).size).toBe(1);
  await moment();

  const dead = hook();
  const { id: other } = await station.ask({ callback_url: station.receiver.url(dead, failing(Number.POSITIVE_INFINITY)) });
  await station.agent.do('withdrawReview', { path: { id: other } });
  expect(await played(other)).toBe('failed');
  await until('the review to say so', async () => (await station.agent.review(other)).notification_delivery_failed);
  await moment();
  const before = station.receiver.at(dead).length;
  station.receiver.url(dead);
  const { id: letter } = await delivery(other);
  await station.admin.do('retryDelivery', { path: { id: letter } });
  expect(await played(other)).toBe('delivered');
  expect(station.receiver.at(dead).length).toBeGreaterThan(before);
  expect(new Set(station.receiver.at(dead).map((one) => one.body.toString('hex'))).size).toBe(1);
};

export const keyLimits: Scenario = async (station, moment) => {
  const [mail, refund] = await Promise.all(
    ['email-draft', 'refund'].map(async (slug) => (await station.agent.do('listTemplates')).items.find((t) => t.slug === slug)),
  );
  const limited = await station.key({ name: 'refunds only', template_ids: [refund?.id ?? ''] });
  const { id } = await station.ask();
  await moment();
  expect(await limited.refused('createReview', { body: { template: 'email-draft', payload: DRAFT } })).toEqual([
    403,
    'template_not_allowed',
  ]);
  expect(await limited.refused('getReview', { path: { id } })).toEqual([403, 'template_not_allowed']);
  expect((await limited.do('listReviews')).total).toBe(0);
  expect((await limited.do('listTemplates')).items.map((t) => t.slug)).toEqual(['refund']);
  expect(await limited.refused('getTemplate', { path: { id: mail?.id ?? '' } })).toEqual([403, 'template_not_allowed']);

  const few = await station.key({ name: 'two an hour', rate_limit_per_hour: 2 });
  const ask = () => few.try('createReview', { body: { template: 'email-draft', payload: DRAFT } });
  expect([(await ask()).status, (await ask()).status]).toEqual([201, 201]);
  await moment();
  const third = await ask();
  expect([third.status, third.body.error.code]).toEqual([429, 'rate_limit_exceeded']);
  expect(Number(third.headers.get('retry-after'))).toBeGreaterThan(0);
};

export const withdraw: Scenario = async (station, moment) => {
  const path = hook();
  const { id } = await station.ask({ callback_url: station.receiver.url(path) });
  await moment();
  const gone = await station.agent.do('withdrawReview', { path: { id }, body: { reason: 'The customer cancelled.' } });
  await moment();
  expect(gone).toMatchObject({ status: 'expired', withdrawn: true, withdrawn_reason: 'The customer cancelled.', decision: null });
  const again = await station.agent.try('withdrawReview', { path: { id } });
  expect([again.status, again.headers.get('idempotent-replay')]).toEqual([200, 'true']);
  const attempt = await station.admin.try('actOnReview', { path: { id }, body: { action_id: 'approve' } });
  expect([attempt.status, attempt.body.error.code]).toEqual([409, 'review_expired']);
  await arrived(station, path, ['review.expired']);
};

export const SCENARIOS: Record<string, Scenario> = {
  'an approval is delivered, verified, and redeemed once for the exact value': approve,
  'an edit is merged, delivered, and found by the feedback': edit,
  'changes are requested, made, and approved': changes,
  'a rejection is told with its reason, and nothing can be redeemed': reject,
  'a timeout that approves': timeout('auto_approve'),
  'a timeout that rejects': timeout('auto_reject'),
  'a timeout that expires': timeout('expire'),
  'a decision that comes too late': late,
  'one request, however often it is sent': idempotentCreate,
  'several people at once': twoPeople,
  'paused and draft templates': templateStates,
  'a stream that breaks and goes on': stream,
  'deliveries that fail, die and are replayed': failingDelivery,
  'limits of keys': keyLimits,
  'an agent changes its mind': withdraw,
};
