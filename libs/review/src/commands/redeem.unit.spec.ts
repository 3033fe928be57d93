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
  PAYLOAD,
  REVIEW,
  within,
} from '../review-fixture.js';
import type { ReviewState } from '../state.js';
import { archive } from './archive.js';
import { type RecordExecution, type RedeemApproval, recordExecution, redeem } from './redeem.js';

const RDM = 'rdm_00000000000000000000000001';
const EXE = 'exe_00000000000000000000000001';
const redeeming =
  (more: Partial<RedeemApproval> = {}) =>
  (state: ReviewState, now: string) =>
    redeem({ actor: agent, redemption_id: RDM, presented: { value: PAYLOAD }, ...more }, state, now);
const reporting =
  (more: Partial<RecordExecution> = {}) =>
  (state: ReviewState, now: string) =>
    recordExecution({ actor: agent, execution_id: EXE, status: 'succeeded', ...more }, state, now);

const approved = (how: Asked = {}) => asked(how).after(1).when(doing(ann, 'approve')).next;
const redeemed = () => approved().when(redeeming({ executor: 'mailer-7' })).next;

describe('redeeming an approval', () => {
  it.each([
    ['the value', { value: Object.fromEntries(Object.entries(PAYLOAD).reverse()) }],
    ['its digest', { digest: digest(PAYLOAD) }],
  ])('is bound to %s', (_what, presented) => {
    const led = approved()
      .after(5)
      .when(redeeming({ presented, executor: 'mailer-7' }));
    expect(led.types).toEqual(['review.redeemed']);
    expect(led.body('review.redeemed')).toEqual({
      redemption_id: RDM,
      digest: digest(PAYLOAD),
      executor: 'mailer-7',
      by: { kind: 'agent', key_id: agent.key_id, key_prefix: agent.key_prefix },
    });
    expect(led.next.state).toMatchObject({ status: 'decided', outcome: { redemption: { id: RDM, redeemed_at: at(6) } } });
    expect(led.decision).toMatchObject({ notAfter: undefined });
  });

  it('is bound to the edited value where a person edited it', () => {
    const story = asked().when(doing(ann, 'approve', { edited_payload: { subject: 'Hi' } })).next;
    expect(story.when(redeeming()).refusal).toMatchObject({ code: 'digest_mismatch', extra: { paths: ['/subject'] } });
    expect(story.when(redeeming({ presented: { value: { ...PAYLOAD, subject: 'Hi' } } })).types).toEqual(['review.redeemed']);
  });

  it('happens once; the second is told of the first', () => {
    const led = redeemed()
      .after(9)
      .when(redeeming({ actor: ownedAgent }));
    expect(led.types).toEqual([]);
    expect(led.refusal).toMatchObject({
      code: 'already_redeemed',
      extra: {
        redemption: {
          object: 'redemption',
          id: RDM,
          review_id: REVIEW,
          digest: digest(PAYLOAD),
          executor: 'mailer-7',
          redeemed_by: 'agent:gwk_0123abcd',
          redeemed_at: at(1),
        },
      },
    });
  });

  it('ends with the validity the template gives an approval', () => {
    const story = approved({ config: { approval_valid_seconds: 60 } });
    const led = story.after(59).when(redeeming());
    expect(led.types).toEqual(['review.redeemed']);
    expect(led.decision.notAfter).toBe(at(61));
    expect(story.after(60).when(redeeming()).refusal).toMatchObject({ code: 'approval_expired', extra: { expired_at: at(61) } });
  });

  it('takes the clock’s approval, recorded at once', () => {
    const led = asked(within('auto_approve')).after(DAY).when(redeeming());
    expect(led.types).toEqual(['review.decided', 'review.redeemed']);
  });

  it('is refused though the clock approved, once that approval is too old: what the clock did is recorded all the same', () => {
    const how = { config: { ...within('auto_approve').config, approval_valid_seconds: 60 } };
    const led = asked(how)
      .after(DAY + 60)
      .when(redeeming());
    expect(led).toMatchObject({ types: ['review.decided'], code: 'approval_expired' });
    expect(led.decision.notAfter).toBeUndefined();
  });

  it('outlives the archive', () => {
    const story = approved().when((s, now) => archive({ actor: ann }, s, now)).next;
    expect(story.when(redeeming()).next.state).toMatchObject({ status: 'archived', outcome: { redemption: { id: RDM } } });
  });

  it.each([
    ['pending', asked()],
    ['rejected', asked().when(doing(ann, 'reject', { feedback: 'No' })).next],
    ['expired', asked(within('expire')).after(DAY)],
    ['sent back', asked().when(doing(ann, 'request_changes', { feedback: 'x' })).next],
  ])('is refused: %s', (_what, story) => {
    expect(story.when(redeeming()).code).toBe('not_approved');
    expect(story.when(reporting()).code).toBe('not_approved');
  });

  it('names where the value differs, as far as it was shown', () => {
    const other = { ...PAYLOAD, recipients: 4, extra: 1 };
    expect(approved().when(redeeming({ presented: { value: other } })).refusal?.extra).toMatchObject({ paths: ['/extra', '/recipients'] });
    expect(approved().when(redeeming({ presented: { digest: digest(other) } })).refusal?.extra).not.toHaveProperty('paths');
    const unreadable = { ...PAYLOAD, subject: '\ud800' };
    expect(approved().when(redeeming({ presented: { value: unreadable } })).refusal).toMatchObject({
      code: 'digest_mismatch',
      extra: { paths: ['/subject'] },
    });
    expect(redeemed().when(redeeming({ presented: { value: other } })).code).toBe('digest_mismatch');
  });

  it('does not hide a fault of ours', () => {
    const value = new Proxy(
      {},
      {
        ownKeys: () => {
          throw new TypeError('broken');
        },
      },
    );
    expect(() => approved().when(redeeming({ presented: { value } }))).toThrow('broken');
  });

  it.each([
    ['a person', approved(), ann, 'forbidden'],
    ['a key of another project', approved(), foreignAgent, 'review_not_found'],
    ['a key limited to other templates', approved(), { ...agent, template_ids: [] }, 'review_not_found'],
    ['a key without the scope', approved(), { ...agent, scopes: ['reviews:decide' as const] }, 'forbidden'],
    ['no review', empty(), agent, 'review_not_found'],
  ])('is not for %s', (_who, story, actor, code) => {
    expect(story.when(redeeming({ actor })).code).toBe(code);
    expect(story.when(reporting({ actor })).code).toBe(code);
  });
});

describe('reporting an execution', () => {
  it('is a fact of its own, with or without a redemption', () => {
    const report = { redemption_id: RDM, output_digest: digest('sent'), note: 'Sent' };
    const led = redeemed().after(3).when(reporting(report));
    expect(led.types).toEqual(['review.executed']);
    expect(led.next.state).toMatchObject({
      outcome: { executions: [{ id: EXE, status: 'succeeded', redemption_id: RDM, executed_at: at(4), note: 'Sent' }] },
    });
    expect(approved().when(reporting({ status: 'failed' })).types).toEqual(['review.executed']);
  });

  it('is the same report again where it says the same as the last', () => {
    const story = redeemed().when(reporting()).next;
    expect(story.when(reporting({ execution_id: 'exe_00000000000000000000000002' }))).toMatchObject({ types: [], code: null });
    expect(story.when(reporting({ status: 'failed' })).types).toEqual(['review.executed']);
    expect(story.when(reporting({ actor: ownedAgent })).types).toEqual(['review.executed']);
  });

  it('is refused for a redemption the review has not', () => {
    expect(redeemed().when(reporting({ redemption_id: 'rdm_00000000000000000000000009' })).refusal).toMatchObject({
      code: 'redemption_not_found',
      param: 'redemption_id',
    });
    expect(approved().when(reporting({ redemption_id: RDM })).code).toBe('redemption_not_found');
  });

  it('is kept a hundred times, and no more', () => {
    let story = approved();
    for (let i = 0; i < 100; i++) story = story.when(reporting({ note: String(i) })).next;
    expect(story.when(reporting({ note: '100' })).code).toBe('too_many_executions');
    expect(story.when(reporting({ note: '99' }))).toMatchObject({ types: [], code: null });
  });

  it('does not ask who decided', () => {
    expect(
      approved()
        .when(reporting())
        .next.when(doing(bob, 'reject', { feedback: 'x' })).code,
    ).toBe('review_already_decided');
  });
});
