/** What agents do to a review that waits for them, or that they no longer want (decisions 5, 28; hrp §1.2, §13). */
import type { Actor } from '@countersign/contracts';
import { newId } from '@countersign/event-store';
import { digest } from '@countersign/evidence';
import { act, onReview } from '@countersign/review';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { PAYLOAD, type Server, startServer } from './fixture/server.js';

let server: Server;
beforeAll(async () => {
  server = await startServer();
  await server.template({ slug: 'mail' });
});
afterAll(() => server.close());

const ANSWER = { ...PAYLOAD, subject: 'Hi' };
const acting = (id: string, action: string, more: object = {}) =>
  server.happen(id, server.ann, (state, now) => act({ actor: server.ann, action: { id: action }, ...more }, state, now));
const resubmit = (id: string, body: unknown = { payload: ANSWER, version: 2 }, actor: Actor = server.agent) =>
  server.call('resubmitReview', actor, { params: { id }, body });
const withdraw = (id: string, body?: unknown, actor: Actor = server.agent) =>
  server.call('withdrawReview', actor, { params: { id }, body });
const types = async (id: string) => (await server.facts(id)).map(({ type }) => type);

async function sentBack(more: Record<string, unknown> = {}): Promise<string> {
  const id = await server.ask('mail', more);
  await acting(id, 'request_changes', { feedback: 'Shorter.' });
  return id;
}
const expiring = { timeout: { seconds: 60, action: 'expire' } };

describe('an answer to a request for changes', () => {
  it('is the next version, with a person again', async () => {
    const id = await sentBack();
    const { status, headers, body } = await resubmit(id);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      status: 'pending',
      current_version: 2,
      iteration_count: 1,
      payload: ANSWER,
      payload_digest: digest(ANSWER),
    });
    expect(body).toMatchObject({ suggested_value: ANSWER, feedback: null, prompt_edit: null });
    const last = (await server.facts(id)).at(-1);
    expect(headers['countersign-seen']).toBe(`${last?.position}.${last?.bucket}`);
  });

  it('sent again is that answer again', async () => {
    const id = await sentBack();
    const first = await resubmit(id);
    const again = await resubmit(id);
    expect([again.status, again.headers['idempotent-replay'], again.body]).toEqual([200, 'true', first.body]);
    expect(await types(id)).toEqual(['review.requested', 'review.changes_requested', 'review.resubmitted']);
  });

  it('of another version is refused, and told which is current', async () => {
    const id = await sentBack();
    for (const version of [1, 3]) {
      const { status, body } = await resubmit(id, { payload: ANSWER, version });
      expect([status, body.error]).toMatchObject([409, { code: 'version_mismatch', review: { id, current_version: 1 } }]);
    }
    await resubmit(id);
    const other = await resubmit(id, { payload: PAYLOAD, version: 2 });
    expect(other.body.error).toMatchObject({ code: 'version_mismatch', review: { current_version: 2 } });
  });

  it('nobody asked for is refused', async () => {
    const { status, code } = await resubmit(await server.ask('mail'));
    expect([status, code]).toEqual([409, 'not_awaiting_changes']);
  });

  it('is checked against the fields of the version the review pinned', async () => {
    const id = await sentBack();
    const { status, body } = await resubmit(id, { payload: { subject: 7 }, version: 2 });
    expect([status, body.error]).toMatchObject([400, { code: 'payload_invalid', param: 'payload.subject' }]);
    for (const wrong of [{ payload: ANSWER }, { version: 2 }, { payload: ANSWER, version: 0 }]) {
      expect((await resubmit(id, wrong)).code).toBe('validation_failed');
    }
  });

  it('comes too late for what is decided, and at the very instant the window ends; the late attempt is recorded once', async () => {
    const rejected = await sentBack();
    await acting(rejected, 'reject_from_iteration');
    expect((await resubmit(rejected)).body.error).toMatchObject({ code: 'review_already_decided', review: { decision: 'rejected' } });
    const id = await sentBack(expiring);
    const [{ time } = { time: '' }] = await server.facts(id);
    try {
      await server.db.stopClock(new Date(Date.parse(time) + 60_000).toISOString());
      for (let n = 0; n < 2; n++) {
        const late = await resubmit(id);
        expect([late.status, late.body.error]).toMatchObject([409, { code: 'review_expired', review: { status: 'expired' } }]);
      }
    } finally {
      await server.db.stopClock(null);
    }
    expect((await types(id)).slice(2)).toEqual(['review.expired', 'review.late_attempt_refused']);
  });

  it('and the person who takes the request back at the same moment: one of them wins, whoever it is', async () => {
    for (let round = 0; round < 100; round++) {
      const id = await sentBack();
      const cancel = onReview(server.others, {
        review_id: id,
        actor: server.ann,
        decide: (state, now) => act({ actor: server.ann, action: { id: 'cancel_iteration' } }, state, now),
      });
      const [answer, { refusal }] = await Promise.all([resubmit(id), cancel]);
      const [, , ...rest] = await types(id);
      if (rest[0] === 'review.resubmitted') {
        expect([rest.length, answer.status, refusal?.code]).toEqual([1, 200, 'action.status_not_allowed']);
      } else {
        expect([rest, answer.status, answer.code]).toEqual([['review.iteration_cancelled'], 409, 'not_awaiting_changes']);
        expect(answer.body.error?.review).toMatchObject({ id, status: 'pending', current_version: 1 });
      }
    }
  });
});

describe('withdrawing', () => {
  it('ends the review without a decision, with a reason or none', async () => {
    const [id, silent] = [await sentBack(), await server.ask('mail')];
    const { status, headers, body } = await withdraw(id, { reason: 'Sent by hand.' });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      status: 'expired',
      withdrawn: true,
      withdrawn_reason: 'Sent by hand.',
      decision: null,
      available_actions: [],
    });
    const last = (await server.facts(id)).at(-1);
    expect(headers['countersign-seen']).toBe(`${last?.position}.${last?.bucket}`);
    expect((await withdraw(silent)).body).toMatchObject({ withdrawn: true, withdrawn_reason: null });
  });

  it('again is already so', async () => {
    const id = await server.ask('mail');
    const first = await withdraw(id);
    const again = await withdraw(id, { reason: 'Really.' });
    expect([again.status, again.headers['idempotent-replay'], again.body]).toEqual([200, 'true', first.body]);
  });

  it('takes the clock’s rows away with it', async () => {
    const id = await server.ask('mail', expiring);
    const rows = () => server.db.pool.query('select from event_store.timers where generation = $1', [position]);
    const position = (await server.facts(id))[0]?.position;
    expect((await rows()).rowCount).toBe(2);
    await withdraw(id);
    expect((await rows()).rowCount).toBe(0);
  });

  it('comes too late for what is decided or has expired, and then records what the clock did', async () => {
    const approved = await server.ask('mail');
    await acting(approved, 'approve');
    const { status, body } = await withdraw(approved);
    expect([status, body.error]).toMatchObject([409, { code: 'review_already_decided', review: { decision: 'approved' } }]);
    const id = await server.ask('mail', expiring);
    await server.db.advanceClock(60);
    expect((await withdraw(id)).code).toBe('review_expired');
    expect(await types(id)).toEqual(['review.requested', 'review.expired']);
  });
});

describe('both', () => {
  it('are for keys of the project with the scope, and for templates the key may use', async () => {
    const id = await sentBack();
    const others: [Actor, number, string][] = [
      [server.chief, 403, 'forbidden'],
      [{ ...server.agent, scopes: ['reviews:decide'] }, 403, 'forbidden'],
      [{ ...server.agent, template_ids: [newId('tpl')] }, 404, 'review_not_found'],
      [server.foreignAgent, 404, 'review_not_found'],
    ];
    for (const [actor, status, code] of others) {
      for (const answer of [await resubmit(id, undefined, actor), await withdraw(id, undefined, actor)]) {
        expect([answer.status, answer.code]).toEqual([status, code]);
      }
    }
    for (const none of [newId('rev'), newId('tpl'), 'nonsense']) {
      expect((await resubmit(none)).code).toBe('review_not_found');
      expect((await withdraw(none)).code).toBe('review_not_found');
    }
    expect(await types(id)).toEqual(['review.requested', 'review.changes_requested']);
  });

  it('may be done by another key of the project', async () => {
    const other = { ...server.agent, key_id: newId('key'), owner: server.ann.person_id };
    const id = await sentBack();
    expect((await resubmit(id, undefined, other)).status).toBe(200);
    // Whoever answers for what was submitted last may not approve it (decision 30).
    await expect(acting(id, 'approve')).rejects.toThrow('requester_cannot_approve');
    expect((await withdraw(id, undefined, other)).status).toBe(200);
  });
});
