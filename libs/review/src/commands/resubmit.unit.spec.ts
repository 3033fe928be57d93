import type { AgentActor } from '@countersign/contracts';
import { digest } from '@countersign/evidence';
import { describe, expect, it } from '@jest/globals';
import {
  type Asked,
  agent,
  ann,
  asked,
  at,
  bob,
  DAY,
  doing,
  empty,
  foreignAgent,
  ownedAgent,
  owner,
  PAYLOAD,
  REVIEW,
  within,
} from '../review-fixture.js';
import type { ReviewState } from '../state.js';
import { resubmit, withdraw } from './submit.js';

describe('resubmitting', () => {
  const sent = (how: Asked = {}) =>
    asked(how)
      .after(10)
      .when(doing(ann, 'request_changes', { feedback: 'Shorter' }))
      .next.after(10);
  const next = { ...PAYLOAD, body: 'Hi' };
  const again =
    (more: Partial<Parameters<typeof resubmit>[0]> = {}) =>
    (state: ReviewState, now: string) =>
      resubmit({ actor: agent, payload: next, version: 2, ...more }, state, now);

  it('makes the next version and puts it before people again', () => {
    const led = sent().when(again());
    expect(led.types).toEqual(['review.resubmitted']);
    expect(led.body('review.resubmitted')).toMatchObject({ version: 2, payload: next, payload_digest: digest(next) });
    expect(led.next.state).toMatchObject({
      status: 'pending',
      current_version: 2,
      payload: next,
      feedback: null,
      last_act: { standing: false },
    });
  });

  it('lets neither owner of the keys that submitted approve it', () => {
    const { state } = sent().when(again({ actor: ownedAgent })).next;
    expect(state).toMatchObject({ answerable: [owner.person_id] });
  });

  it('lets nobody who owned the key before approve, whether it asked or submitted again', () => {
    const given: AgentActor = { ...agent, former_owners: [owner.person_id, ann.person_id] };
    const again = asked()
      .when(doing(bob, 'request_changes', { feedback: 'x' }))
      .next.when((state, now) => resubmit({ actor: given, payload: PAYLOAD, version: 2 }, state, now));
    for (const review of [asked({ actor: given }), again.next]) {
      for (const former of [owner, ann]) expect(review.when(doing(former, 'approve')).code).toBe('requester_cannot_approve');
      expect(review.when(doing(bob, 'approve')).types).toEqual(['review.decided']);
    }
  });

  it('cancels the wait for changes', () => {
    const story = sent({ config: { changes_timeout_hours: 1 } });
    const led = story.when(again());
    expect(led.decision).toMatchObject({ cancel: [{ stream: REVIEW, kind: 'changes_timeout' }], notAfter: at(10 + 3600) });
  });

  it('is the same answer again while that version is current, also once it is decided', () => {
    const story = sent().when(again()).next;
    for (const led of [story.when(again()), story.when(doing(ann, 'approve')).next.when(again())]) {
      expect(led.types).toEqual([]);
      expect(led.refusal).toBeUndefined();
    }
  });

  it.each([
    ['another body as the version that is current', sent().when(again()).next, { payload: PAYLOAD }, 'version_mismatch'],
    ['a version that is not the next', sent(), { version: 3 }, 'version_mismatch'],
    ['the version under review', sent(), { version: 1 }, 'version_mismatch'],
    ['a change nobody asked for', asked(), {}, 'not_awaiting_changes'],
    ['version 1 again', asked(), { version: 1, payload: PAYLOAD }, 'version_mismatch'],
    ['a decided review', asked().when(doing(ann, 'approve')).next, {}, 'review_already_decided'],
    ['a payload of the wrong kind', sent(), { payload: { subject: 1 } }, 'payload_invalid'],
    ['a payload without a canonical form', sent(), { payload: { subject: '\u0000' } }, 'payload_invalid'],
    ['a session', sent(), { actor: ann }, 'forbidden'],
    ['a key of another project', sent(), { actor: foreignAgent }, 'review_not_found'],
    ['no review', empty(), {}, 'review_not_found'],
  ])('is refused: %s', (_what, story, more, code) => {
    const led = story.when(again(more));
    expect(led.types).toEqual([]);
    expect(led.code).toBe(code);
  });

  it('says where the payload is wrong', () => {
    const wrong = (payload: Record<string, unknown>) => sent().when(again({ payload })).refusal;
    expect(wrong({ ...PAYLOAD, subject: 7 })).toMatchObject({ code: 'payload_invalid', param: 'payload.subject' });
    expect(wrong({ subject: undefined })).toMatchObject({ code: 'payload_invalid', param: 'payload' });
  });

  it('comes too late when the wait for changes has ended: that is recorded, and refused', () => {
    const story = sent({ config: { changes_timeout_hours: 1 } }).after(3600);
    const led = story.when(again());
    expect(led.types).toEqual(['review.changes_timed_out']);
    expect(led.code).toBe('not_awaiting_changes');
    expect(led.next.state).toMatchObject({ status: 'pending', updated_at: at(10 + 3600) });
  });

  it('comes too late when the window has ended: the lapse and the attempt are recorded', () => {
    const led = sent(within('expire')).after(DAY).when(again());
    expect(led.types).toEqual(['review.expired', 'review.late_attempt_refused']);
    expect(led.body('review.late_attempt_refused')).toMatchObject({ attempt: 'resubmit', late_seconds: 20, by: { kind: 'agent' } });
    expect(led.code).toBe('review_expired');
    expect(led.next.when(again())).toMatchObject({ types: [], code: 'review_expired' });
    // Another key's is another attempt.
    expect(led.next.when(again({ actor: ownedAgent })).types).toEqual(['review.late_attempt_refused']);
  });
});

describe('withdrawing (decision 28)', () => {
  const back =
    (reason?: string, actor: Parameters<typeof withdraw>[0]['actor'] = agent) =>
    (state: ReviewState, now: string) =>
      withdraw({ actor, reason }, state, now);

  it('ends an open review as expired, and says why', () => {
    const led = asked(within('expire')).after(5).when(back('Not needed'));
    expect(led.types).toEqual(['review.withdrawn']);
    expect(led.next.state).toMatchObject({
      status: 'expired',
      outcome: { kind: 'expired', expired_at: at(5), withdrawal: { reason: 'Not needed', by: { key_id: agent.key_id } } },
    });
    expect(led.decision.cancel?.map(({ kind }) => kind)).toEqual(['timeout', 'changes_timeout', 'reminder']);
  });

  it('takes back what waits for changes too, without a reason if need be', () => {
    const story = asked().when(doing(ann, 'request_changes', { feedback: 'x' })).next;
    expect(story.when(back()).body('review.withdrawn')).toMatchObject({ reason: null });
  });

  it('is already so when it was withdrawn', () => {
    const led = asked().when(back('a')).next.when(back('b'));
    expect(led.types).toEqual([]);
    expect(led.refusal).toBeUndefined();
  });

  it.each([
    ['decided', asked().when(doing(ann, 'approve')).next, agent, 'review_already_decided'],
    ['expired', asked(within('expire')).after(DAY), agent, 'review_expired'],
    ['another project’s', asked(), foreignAgent, 'review_not_found'],
    ['a person’s to withdraw', asked(), ann, 'forbidden'],
  ])('is refused: %s', (_what, story, actor, code) => {
    expect(story.when(back('x', actor)).code).toBe(code);
  });

  it('keeps out people who come after it: nothing late about that', () => {
    const led = asked().when(back()).next.when(doing(ann, 'approve'));
    expect(led.code).toBe('review_expired');
    expect(led.types).toEqual([]);
  });
});
