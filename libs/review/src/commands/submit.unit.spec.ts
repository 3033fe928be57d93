import { digest } from '@countersign/evidence';
import { describe, expect, it } from '@jest/globals';
import {
  agent,
  ann,
  asked,
  asking,
  at,
  bob,
  DAY,
  ESCALATE,
  empty,
  ownedAgent,
  owner,
  PAYLOAD,
  REVIEW,
  SHIP,
  START,
  TEMPLATE,
  template,
  within,
} from '../review-fixture.js';
import { PRESETS } from '../rules/actions.js';
import type { RequestedReview } from '../state.js';
import { idempotencyScope, judgeRepeatedRequest, request, requestInputHash } from './submit.js';

describe('asking for a review', () => {
  it('pins the template, the payload and its digest, and who asked', () => {
    const led = empty().when(asking({ actor: ownedAgent, assignee: bob, on_behalf_of: ann, body: { priority: 'high', confidence: 0.5 } }));
    expect(led.types).toEqual(['review.requested']);
    expect(led.body('review.requested')).toMatchObject({
      template: { id: TEMPLATE, slug: 'mail', version: 4, name: 'Mail', instructions: 'Read it aloud.', allow_request_changes: true },
      actions: [PRESETS.approve, PRESETS.reject, ESCALATE],
      payload: PAYLOAD,
      payload_digest: digest(PAYLOAD),
      priority: 'high',
      confidence: 0.5,
      assignee: 'bob@example.org',
      assignee_id: bob.person_id,
      timeout: null,
      requester: { key_id: ownedAgent.key_id, key_prefix: ownedAgent.key_prefix, name: 'mailer', owner: owner.person_id },
      on_behalf_of: { person_id: ann.person_id, email: 'ann@example.org' },
    });
    expect(led.next.state).toMatchObject({ status: 'pending', current_version: 1, answerable: [owner.person_id, ann.person_id] });
    expect(led.decision).not.toHaveProperty('schedule');
  });

  it('takes what the body leaves out from the template', () => {
    const config = { default_priority: 'low', max_iterations: 2, changes_timeout_hours: 3, approval_valid_seconds: 60 } as const;
    const { state } = asked({ config });
    expect(state).toMatchObject({ priority: 'low', max_iterations: 2, changes_timeout_seconds: 10_800, approval_valid_seconds: 60 });
    expect(asked({ config, body: { max_iterations: 7, assignee: 'bob@example.org' } }).state).toMatchObject({
      max_iterations: 7,
      assignee: 'bob@example.org',
    });
  });

  it('names nobody who answered for the key before where there is nobody', () => {
    expect(
      empty()
        .when(asking({ actor: ownedAgent }))
        .body('review.requested').requester,
    ).not.toHaveProperty('former_owners');
  });

  it('names the person who answers for it once, though both key and request name them', () => {
    expect(asked({ actor: ownedAgent, on_behalf_of: owner }).state).toMatchObject({ answerable: [owner.person_id] });
  });

  it('schedules the end of its window and a reminder at three quarters of it', () => {
    const led = empty().when(asking(within('expire', 1000)));
    expect(led.decision.schedule).toEqual([
      { stream: REVIEW, kind: 'timeout', due: { inSeconds: 1000 } },
      { stream: REVIEW, kind: 'reminder', due: { inSeconds: 750 } },
    ]);
    expect(led.next.state).toMatchObject({ expires_at: at(1000) });
  });

  it('is approved at once where a person published that it is', () => {
    const led = empty().when(
      asking({ ...within('expire'), config: { auto_approve: true, timeout_seconds: 60, timeout_action: 'expire' } }),
    );
    expect(led.types).toEqual(['review.requested', 'review.decided']);
    expect(led.decision.schedule).toBeUndefined();
    expect(led.body('review.decided')).toMatchObject({
      decision: 'approved',
      decided_by: { kind: 'system', id: 'system/auto-approve' },
      shown: null,
      proof: null,
      approved_value: PAYLOAD,
      approved_digest: digest(PAYLOAD),
    });
    expect(led.next.state).toMatchObject({ status: 'decided', outcome: { decided_at: START } });
  });

  it('does nothing when its stream already begins with it', () => {
    const led = asked().when(asking());
    expect(led.types).toEqual([]);
    expect(led.refusal).toBeUndefined();
  });

  const refusals: [string, Parameters<typeof request>[0]['template'], Parameters<typeof asking>[0], string, string?][] = [
    ['an unknown template', null, {}, 'template_not_found', 'template'],
    ['a template of another project', template({}, { project_id: 'prj_0000000000000000000000000x' }), {}, 'template_not_found'],
    ['a draft', template({}, { status: 'draft', published: null }), {}, 'template_draft', 'template'],
    ['a paused draft', template({}, { status: 'inactive', published: null }), {}, 'template_draft', 'template'],
    ['a paused template', template({}, { status: 'inactive' }), {}, 'template_inactive', 'template'],
    ['a template the key may not use', template(), { actor: { ...agent, template_ids: [] } }, 'template_not_found'],
    ['a key without the scope', template(), { actor: { ...agent, scopes: ['reviews:read'] } }, 'forbidden'],
    ['a trace address that is not https', template(), { body: { trace_url: 'http://trace.example' } }, 'invalid_trace_url', 'trace_url'],
    ['a trace address that is none', template(), { body: { trace_url: 'trace' } }, 'invalid_trace_url', 'trace_url'],
    [
      'a payload that is not what the fields declare',
      template(),
      { body: { payload: { subject: 1 } } },
      'payload_invalid',
      'payload.subject',
    ],
    ['an action the template has not', template(), { body: { actions: ['ship'] } }, 'action.unknown_action', 'actions'],
  ];
  it.each(refusals)('is refused: %s', (_what, named, { actor = agent, body } = {}, code, param) => {
    const command = {
      review_id: REVIEW,
      actor,
      template: named,
      body: { template: 'mail', payload: PAYLOAD, ...body },
      on_behalf_of: null,
    };
    const led = empty().when((state, now) => request(command, state, now));
    expect(led.types).toEqual([]);
    expect(led.refusal).toMatchObject({ code, ...(param && { param }) });
  });

  it('is refused to a person', () => {
    const led = empty().when((state, now) =>
      request(
        { review_id: REVIEW, actor: ann, template: template(), body: { template: 'mail', payload: {} }, on_behalf_of: null },
        state,
        now,
      ),
    );
    expect(led.code).toBe('forbidden');
  });

  it('accepts a trace address over https', () => {
    expect(asked({ body: { trace_url: 'https://trace.example/1' } }).state).toMatchObject({ trace_url: 'https://trace.example/1' });
  });
});

describe('the timeout of a request (decision 19)', () => {
  const own = (seconds: number, action: 'auto_approve' | 'auto_reject' | 'expire') => ({ body: { timeout: { seconds, action } } });

  it.each([
    ['none of the template, expire', {}, own(60, 'expire'), { seconds: 60, action: 'expire' }],
    ['none of the template, auto_reject', {}, own(60, 'auto_reject'), { seconds: 60, action: 'auto_reject' }],
    ['its own instead of the template’s', within('expire').config, own(90, 'auto_reject'), { seconds: 90, action: 'auto_reject' }],
    [
      'auto_approve where requests may ask for it',
      { allow_timeout_auto_approve: true },
      own(60, 'auto_approve'),
      { seconds: 60, action: 'auto_approve' },
    ],
    [
      'auto_approve no sooner than the template’s own',
      within('auto_approve', 600).config,
      own(600, 'auto_approve'),
      { seconds: 600, action: 'auto_approve' },
    ],
    ['none where the template has a length and nothing that happens then', { timeout_seconds: 600, timeout_action: null }, {}, null],
    ['the template’s own', within('auto_approve', 600).config, {}, { seconds: 600, action: 'auto_approve' }],
  ])('%s', (_what, config, body, timeout) => {
    expect(asked({ config, ...body }).state).toMatchObject({ timeout });
  });

  it.each([
    ['auto_approve that nobody published', {}, own(60, 'auto_approve')],
    ['auto_approve where the template expires', within('expire', 600).config, own(600, 'auto_approve')],
    ['auto_approve sooner than the template’s own', within('auto_approve', 600).config, own(599, 'auto_approve')],
  ])('refuses %s', (_what, config, body) => {
    expect(empty().when(asking({ config, ...body })).refusal).toMatchObject({
      code: 'timeout_action_not_allowed',
      param: 'timeout.action',
    });
  });
});

describe('the actions an agent offers', () => {
  const offered = (actions: string[]) => {
    const { state } = asked({ body: { actions }, config: { actions: [SHIP, PRESETS.reject, ESCALATE] } });
    return (state as RequestedReview).actions.map((action) => action.id);
  };

  it('are those of the template it names, by id or by what HRP calls them', () => {
    expect(offered(['ship', 'escalate'])).toEqual(['ship', 'reject', 'escalate']);
    expect(offered(['approve', 'reject'])).toEqual(['ship', 'reject']);
    expect(offered(['request_changes', 'ship'])).toEqual(['ship', 'reject']);
    expect(offered([])).toEqual(['ship', 'reject', 'escalate']);
  });

  it('always leave a person the no', () => {
    expect(offered(['approve'])).toEqual(['ship', 'reject']);
    const no = { ...PRESETS.reject, id: 'no' };
    const { state } = asked({ body: { actions: ['reject'] }, config: { actions: [SHIP, no] } });
    expect((state as RequestedReview).actions).toEqual([no]);
  });
});

describe('the same request again (decision 9)', () => {
  const body = { template: 'mail', payload: { a: 1, b: 2 } };

  it('is known by what a person would judge', () => {
    const hash = requestInputHash(body);
    expect(requestInputHash({ payload: { b: 2, a: 1 }, template: 'mail', oversight: 'blocking', actions: [] })).toBe(hash);
    expect(
      requestInputHash({
        ...body,
        trace_url: 'https://t.example',
        metadata: { x: 1 },
        callback_url: 'https://c.example',
        priority: 'high',
        assignee: 'ann@example.org',
        confidence: 0.9,
      }),
    ).toBe(hash);
    for (const other of [
      { ...body, template: 'post' },
      { ...body, payload: { a: 1 } },
      { ...body, actions: ['approve'] },
      { ...body, timeout: { seconds: 60, action: 'expire' as const } },
      { ...body, irreversibility: 'irreversible' as const },
      { ...body, on_behalf_of: 'ann@example.org' },
      { ...body, max_iterations: 2 },
    ]) {
      expect(requestInputHash(other)).not.toBe(hash);
    }
    const scopes = [
      idempotencyScope('prj_1'),
      idempotencyScope('prj_2'),
      idempotencyScope('prj_1', 'tpl_1'),
      idempotencyScope('prj_1', 'tpl_2'),
    ];
    expect(new Set(scopes).size).toBe(4);
  });

  it('is answered with its review while that is open, and refused with other input', () => {
    const { state, now } = asked(within('expire'));
    const review = state as RequestedReview;
    expect(judgeRepeatedRequest(review, now, true)).toBeNull();
    expect(judgeRepeatedRequest(review, now, false)).toMatchObject({
      code: 'idempotency_key_reused',
      extra: { review_id: REVIEW, status: 'pending', review: { id: REVIEW, status: 'pending' } },
    });
  });

  it('is refused, first of all, once the review is settled — by the clock too', () => {
    const review = asked(within('expire')).state as RequestedReview;
    for (const same of [true, false]) {
      expect(judgeRepeatedRequest(review, at(DAY), same)).toMatchObject({
        code: 'idempotency_key_terminal_conflict',
        extra: { review_id: REVIEW, status: 'expired', review: { status: 'expired' } },
      });
    }
  });
});
