import { type ReviewEvent, validator, WEBHOOKS } from '@countersign/contracts';
import { newId } from '@countersign/event-store';
import { digest } from '@countersign/evidence';
import type { ReviewState } from '@countersign/review';
import { elapse, recordExecution, redeem, resubmit, withdraw } from '@countersign/review';
import { agent, asked, chief, doing, PAYLOAD, REVIEW, START } from '@countersign/review/fixture';
import type { Story } from '@countersign/testing';
import { describe, expect, it } from '@jest/globals';
import { bodiesOf, type Told } from './bodies.js';

type ReviewStory = Story<ReviewState, ReviewEvent>;

describe('bodiesOf', () => {
  it('tells an approval as the act and then the decision, key by key', () => {
    const told = last(asked().when(doing(chief, 'approve', { feedback: 'Fine' })).next);
    expect(told).toEqual([
      {
        event_type: 'review.action_taken',
        body: {
          event: 'review.action_taken',
          review_id: REVIEW,
          review_version: 1,
          previous_version: 1,
          action: { id: 'approve', label: 'Approve', kind: 'decision', decision_value: 'approved' },
          actor: { type: 'reviewer', id: chief.person_id, email: chief.email },
          feedback: 'Fine',
          edited_payload: null,
          trigger_path: 'manual',
          timestamp: START,
        },
      },
      {
        event_type: 'review.decided',
        body: {
          type: 'review.decided',
          review_id: REVIEW,
          decision: 'approved',
          decided_at: START,
          was_edited: false,
          suggested_value: PAYLOAD,
          approved_value: PAYLOAD,
          feedback: 'Fine',
          reviewer: chief.email,
          reviewer_id: chief.person_id,
          action_value: 'approve',
          action_label: 'Approve',
          iteration_count: 0,
          payload_digest: digest(PAYLOAD),
          approved_digest: digest(PAYLOAD),
        },
      },
    ]);
  });

  it('tells an approval with an edit as edited, with the merged value', () => {
    const [taken, decided] = last(asked().when(doing(chief, 'approve', { edited_payload: { body: 'Bye' } })).next);
    expect(taken?.body).toMatchObject({ action: { decision_value: 'approved' }, edited_payload: { body: 'Bye' } });
    expect(decided?.body).toMatchObject({
      decision: 'edited',
      was_edited: true,
      suggested_value: PAYLOAD,
      approved_value: { ...PAYLOAD, body: 'Bye' },
      edited_payload: { body: 'Bye' },
      approved_digest: digest({ ...PAYLOAD, body: 'Bye' }),
    });
  });

  it('tells a rejection without an approved value', () => {
    const [taken, decided] = last(asked().when(doing(chief, 'reject', { feedback: 'No' })).next);
    expect(taken?.body).toMatchObject({ action: { id: 'reject', decision_value: 'rejected' }, feedback: 'No' });
    expect(decided?.body).toMatchObject({ decision: 'rejected', was_edited: false, approved_digest: null });
    expect(decided?.body).not.toHaveProperty('approved_value');
  });

  it('tells what no person decided once, and by whom is left out', () => {
    const auto = last(asked({ config: { auto_approve: true } }));
    expect(auto.map((one) => one.event_type)).toEqual(['review.decided']);
    expect(auto[0]?.body).toMatchObject({
      decision: 'approved',
      auto_approved: true,
      action_value: 'auto_approve',
      action_label: 'Auto-approved',
      approved_value: PAYLOAD,
    });
    expect(auto[0]?.body).not.toHaveProperty('reviewer');
  });

  it.each([
    ['auto_approve', { decision: 'approved', approved_value: PAYLOAD, approved_digest: digest(PAYLOAD) }],
    ['auto_reject', { decision: 'rejected', approved_digest: null }],
  ] as const)('tells a timeout with %s in few words, dated at the deadline', (action, outcome) => {
    const late = asked({ config: { allow_timeout_auto_approve: true }, body: { timeout: { seconds: 60, action } } }).after(3_600);
    const told = last(late.when((state, now) => elapse('timeout', state, now)).next);
    const timed = {
      type: 'review.decided',
      review_id: REVIEW,
      decided_at: '2026-11-30T09:01:00.000Z',
      was_edited: false,
      iteration_count: 0,
      payload_digest: digest(PAYLOAD),
    };
    expect(told).toEqual([{ event_type: 'review.decided', body: { ...timed, ...outcome } }]);
  });

  it('tells an expiry, dated at the deadline, and a withdrawal with its reason', () => {
    const expired = last(
      asked({ body: { timeout: { seconds: 60, action: 'expire' } } })
        .after(90)
        .when((state, now) => elapse('timeout', state, now)).next,
    );
    expect(expired).toEqual([
      {
        event_type: 'review.expired',
        body: { type: 'review.expired', review_id: REVIEW, timeout_action: 'expire', expired_at: '2026-11-30T09:01:00.000Z' },
      },
    ]);
    const withdrawn = (reason?: string) =>
      last(
        asked()
          .after(5)
          .when((state, now) => withdraw({ actor: agent, reason }, state, now)).next,
      )[0]?.body;
    const base = {
      type: 'review.expired',
      review_id: REVIEW,
      timeout_action: null,
      expired_at: '2026-11-30T09:00:05.000Z',
      withdrawn: true,
    };
    expect(withdrawn('Sent by hand')).toEqual({ ...base, reason: 'Sent by hand' });
    expect(withdrawn()).toEqual(base);
  });

  it('tells a request for changes as a retry', () => {
    expect(last(asked().when(doing(chief, 'request_changes', { feedback: 'Shorter', prompt_edit: 'Be brief' })).next)).toEqual([
      {
        event_type: 'review.retried',
        body: { type: 'review.retried', review_id: REVIEW, action: 'retry', feedback: 'Shorter', prompt_edit: 'Be brief' },
      },
    ]);
  });

  it('passes on with a request for changes what the person suggests', () => {
    const edited_payload = { subject: 'Shorter' };
    const told = last(asked().when(doing(chief, 'request_changes', { feedback: 'Like this', edited_payload })).next);
    expect(told[0]?.body).toMatchObject({ type: 'review.retried', feedback: 'Like this', edited_payload });
  });

  it.each([
    [undefined, 'review.iteration_legal'],
    ['contract.redline', 'contract.redline'],
  ])("tells an iteration of the template's own (webhook_event %j) also as %s", (webhook_event, name) => {
    const action = { id: 'legal', label: 'Ask legal', kind: 'iteration' as const, ...(webhook_event ? { webhook_event } : {}) };
    const story = asked({
      config: { actions: [{ id: 'approve', label: 'Approve', kind: 'decision', decision_value: 'approved' }, action] },
    });
    expect(last(story.when(doing(chief, 'legal', { feedback: 'Clause 3' })).next)).toEqual([
      { event_type: 'review.retried', body: { type: 'review.retried', review_id: REVIEW, action: 'retry', feedback: 'Clause 3' } },
      {
        event_type: name,
        body: {
          event: name,
          review_id: REVIEW,
          action_id: 'legal',
          feedback: 'Clause 3',
          actor: { type: 'reviewer', id: chief.person_id, email: chief.email },
          timestamp: START,
        },
      },
    ]);
  });

  it('tells the request for changes that closed the review as a decision nobody made', () => {
    const told = last(
      asked({ config: { max_iterations: 1 } })
        .when(doing(chief, 'request_changes', { feedback: '1' }))
        .next.when((state, now) => resubmit({ actor: agent, payload: PAYLOAD, version: 2 }, state, now))
        .next.when(doing(chief, 'request_changes', { feedback: '2' })).next,
    );
    expect(told.map((one) => one.event_type)).toEqual(['review.decided']);
    expect(told[0]?.body).toMatchObject({ decision: 'max_iterations_reached', iteration_count: 1, feedback: '2' });
    expect(told[0]?.body).not.toHaveProperty('reviewer');
  });

  it('tells an act that decides nothing, and the end of a wait for changes', () => {
    const action = { id: 'ping', label: 'Ping', kind: 'side_effect' as const, webhook_event: 'ops.ping' };
    const pinged = last(
      asked({ config: { actions: [{ id: 'approve', label: 'Approve', kind: 'decision', decision_value: 'approved' }, action] } }).when(
        doing(chief, 'ping'),
      ).next,
    );
    expect(pinged.map((one) => one.event_type)).toEqual(['review.action_taken', 'ops.ping']);
    expect(pinged[0]?.body).toMatchObject({ action: { id: 'ping', kind: 'side_effect', decision_value: null } });
    const cancelled = last(
      asked()
        .when(doing(chief, 'request_changes', { feedback: 'x' }))
        .next.when(doing(chief, 'cancel_iteration')).next,
    );
    expect(cancelled.map((one) => one.event_type)).toEqual(['review.action_taken']);
  });

  it('tells redemption and execution', () => {
    const approved = asked().when(doing(chief, 'approve')).next;
    const redemption_id = newId('rdm');
    const redeemed = approved.when((state, now) =>
      redeem({ actor: agent, redemption_id, presented: { value: PAYLOAD }, executor: 'mailer' }, state, now),
    ).next;
    expect(last(redeemed)).toEqual([
      {
        event_type: 'review.redeemed',
        body: {
          type: 'review.redeemed',
          review_id: REVIEW,
          redemption_id,
          digest: digest(PAYLOAD),
          executor: 'mailer',
          redeemed_at: START,
        },
      },
    ]);
    const execution_id = newId('exe');
    const executed = redeemed.when((state, now) =>
      recordExecution({ actor: agent, execution_id, redemption_id, status: 'failed', note: 'bounced' }, state, now),
    ).next;
    expect(last(executed)).toEqual([
      {
        event_type: 'review.executed',
        body: {
          type: 'review.executed',
          review_id: REVIEW,
          execution_id,
          redemption_id,
          status: 'failed',
          note: 'bounced',
          executed_at: START,
        },
      },
    ]);
  });

  it('tells nothing of what was erased', () => {
    const story = asked().when(doing(chief, 'approve')).next;
    const event = story.events.at(-1);
    if (!event) throw new Error('No event.');
    expect(bodiesOf(story.state, { ...event, body: null, redacted: true } as never)).toEqual([]);
  });
});

/** What the last event of a story tells; each body keeps to its contract. */
function last(story: ReviewStory): Told[] {
  const event = story.events.at(-1);
  if (!event) throw new Error('Nothing happened.');
  const told = bodiesOf(story.state, event);
  for (const { event_type, body } of told) {
    const schema = WEBHOOKS[event_type in WEBHOOKS ? (event_type as keyof typeof WEBHOOKS) : 'review.iteration_{id}'];
    expect(validator(schema, 'exact')(body)).toMatchObject({ ok: true });
  }
  return told;
}
