import { digest } from '@countersign/evidence';
import { describe, expect, it } from '@jest/globals';
import { PRESETS } from './actions.js';
import { archive, unarchive } from './archive.js';
import { type ActOnReview, mayDraft } from './decide.js';
import { assign, claim } from './hold.js';
import {
  type Asked,
  agent,
  ann,
  asked,
  at,
  bob,
  CONFIG,
  chief,
  DAY,
  doing,
  empty,
  foreignAgent,
  ownedAgent,
  owner,
  PAYLOAD,
  person,
  REVIEW,
  SHIP,
  stranger,
  within,
} from './review.fixture.js';
import type { ReviewState } from './state.js';
import { resubmit, withdraw } from './submit.js';

const changes = (how: Asked = {}, feedback = 'Shorter') => asked(how).when(doing(ann, 'request_changes', { feedback })).next;
const resubmitted =
  (payload = PAYLOAD, version = 2) =>
  (state: ReviewState, now: string) =>
    resubmit({ actor: agent, payload, version }, state, now);
const irreversible: Asked = { body: { irreversibility: 'irreversible' } };
const seen = { version: 1, payload_digest: digest(PAYLOAD) };

describe('approving', () => {
  it('records what was shown, what was approved, who approved and how they had proved themselves', () => {
    const led = asked()
      .after(30)
      .when(doing(ann, 'approve', { ...seen, feedback: 'Fine' }));
    expect(led.types).toEqual(['review.decided']);
    expect(led.body('review.decided')).toEqual({
      decision: 'approved',
      version: 1,
      decided_by: { kind: 'person', id: ann.person_id, email: ann.email },
      acted_by: null,
      proof: { method: 'password', session_id: ann.session_id, authenticated_seconds_ago: 90 },
      trigger: 'action',
      after_seconds: null,
      action: { id: 'approve', label: 'Approve', kind: 'decision' },
      shown: { basis: 'exact', version: 1, digest: digest(PAYLOAD) },
      approved_value: PAYLOAD,
      approved_digest: digest(PAYLOAD),
      edited_payload: null,
      changed_keys: [],
      feedback: 'Fine',
      prompt_edit: null,
      held_by: null,
    });
    expect(led.next.state).toMatchObject({ status: 'decided', feedback: 'Fine', outcome: { decided_at: at(30) }, updated_at: at(30) });
  });

  it('is assumed to be of what was current when the client does not say (decision 22)', () => {
    for (const more of [{}, { version: 1 }]) {
      expect(
        asked()
          .when(doing(ann, 'approve', more))
          .body('review.decided').shown,
      ).toMatchObject({ basis: 'assumed', version: 1 });
    }
  });

  it('ends the timers, and ends before the deadline', () => {
    const led = asked(within('expire')).when(doing(ann, 'approve'));
    expect(led.decision).toMatchObject({ notAfter: at(DAY), notBefore: undefined });
    expect(led.decision.cancel).toEqual(['timeout', 'changes_timeout', 'reminder'].map((kind) => ({ stream: REVIEW, kind })));
  });

  it('says who held the review, who holds nothing any more', () => {
    const story = asked().when((state, now) => claim({ actor: ann }, state, now)).next;
    const led = story.when(doing(ann, 'approve'));
    expect(led.body('review.decided').held_by).toEqual({ ref: 'reviewer:ann@example.org', person_id: ann.person_id });
    expect(led.next.state).toMatchObject({ held_by: null, held_at: null });
  });
});

describe('editing (decisions 3, 4)', () => {
  const edit = (edited_payload: Record<string, unknown>, action = 'approve') =>
    asked().when(doing(ann, action, { edited_payload, feedback: 'f' }));

  it('merges the edit key by key and says edited', () => {
    const approved = { ...PAYLOAD, subject: 'Hi' };
    expect(edit({ subject: 'Hi' }).body('review.decided')).toMatchObject({
      decision: 'edited',
      approved_value: approved,
      approved_digest: digest(approved),
      edited_payload: { subject: 'Hi' },
      changed_keys: ['subject'],
    });
  });

  it('may send back what it did not change, whatever the order of its members', () => {
    const led = edit({ ...PAYLOAD, tracking: { campaign: 'x' } });
    expect(led.body('review.decided')).toMatchObject({
      decision: 'approved',
      edited_payload: null,
      changed_keys: [],
      approved_value: PAYLOAD,
    });
  });

  it('may add a declared field the agent left out', () => {
    const story = asked({ body: { payload: { subject: 'Hello' } } });
    const led = story.when(doing(ann, 'approve', { edited_payload: { body: 'New' } }));
    expect(led.body('review.decided')).toMatchObject({ decision: 'edited', approved_value: { subject: 'Hello', body: 'New' } });
  });

  it('goes with a rejection as a note of what was wrong', () => {
    expect(edit({ subject: 'Hi' }, 'reject').body('review.decided')).toMatchObject({
      decision: 'rejected',
      edited_payload: { subject: 'Hi' },
      changed_keys: ['subject'],
      approved_value: null,
      approved_digest: null,
    });
  });

  it('names every key that may not be edited, sorted', () => {
    const led = edit({ subject: 'Hi', tracking: {}, recipients: 4, unheard: 1 });
    expect(led.refusal).toMatchObject({ code: 'field_not_editable', param: 'edited_payload.recipients' });
    expect((led.refusal as { details: { path: string }[] }).details.map(({ path }) => path)).toEqual([
      'edited_payload.recipients',
      'edited_payload.tracking',
      'edited_payload.unheard',
    ]);
  });

  it('must leave what the fields declare (decision 8)', () => {
    expect(edit({ subject: 7 }).refusal).toMatchObject({ code: 'payload_invalid', param: 'edited_payload.subject' });
    expect(edit({ subject: null }).refusal).toMatchObject({ code: 'payload_invalid', param: 'edited_payload.subject' });
    expect(edit({ subject: '\ud800' }).refusal).toMatchObject({ code: 'payload_invalid', param: 'edited_payload' });
  });
});

describe('the other actions', () => {
  it('reject', () => {
    const led = asked().when(doing(ann, 'reject', { feedback: 'No' }));
    expect(led.body('review.decided')).toMatchObject({ decision: 'rejected', feedback: 'No', approved_digest: null });
  });

  it('a decision of the template’s own', () => {
    const led = asked({ config: { actions: [SHIP] } }).when(doing(ann, 'ship'));
    expect(led.body('review.decided')).toMatchObject({ decision: 'approved', action: { id: 'ship', label: 'Ship it', kind: 'decision' } });
  });

  it('a side effect leaves the review where it is', () => {
    const led = asked()
      .after(3)
      .when(doing(ann, 'escalate', { feedback: 'Look', edited_payload: { subject: 'Hi' } }));
    expect(led.types).toEqual(['review.action_taken']);
    expect(led.body('review.action_taken')).toMatchObject({
      action: { id: 'escalate', label: 'Escalate', kind: 'side_effect' },
      by: { id: ann.person_id },
      feedback: 'Look',
      edited_payload: { subject: 'Hi' },
      webhook_event: 'mail.escalated',
    });
    expect(led.next.state).toMatchObject({ status: 'pending', feedback: null, last_act: { action: { id: 'escalate' }, at: at(3) } });
  });

  it('a side effect without a webhook of its own', () => {
    const nudge = { id: 'nudge', label: 'Nudge', kind: 'side_effect' } as const;
    const story = asked({ config: { actions: [PRESETS.approve, nudge] } });
    expect(story.when(doing(ann, 'nudge')).body('review.action_taken').webhook_event).toBeNull();
  });

  it('asking for changes gives the review to the agent, for as long as the template says', () => {
    const led = asked({ config: { changes_timeout_hours: 2 } })
      .after(5)
      .when(doing(ann, 'request_changes', { feedback: 'Shorter', prompt_edit: 'Be brief' }));
    expect(led.types).toEqual(['review.changes_requested']);
    expect(led.body('review.changes_requested')).toMatchObject({
      feedback: 'Shorter',
      prompt_edit: 'Be brief',
      webhook_event: null,
      changes_timeout_seconds: 7200,
    });
    expect(led.decision.schedule).toEqual([{ stream: REVIEW, kind: 'changes_timeout', due: { inSeconds: 7200 } }]);
    expect(led.next.state).toMatchObject({
      status: 'awaiting_iteration',
      feedback: 'Shorter',
      prompt_edit: 'Be brief',
      changes: { requested_at: at(5), deadline: at(7205), requested_by: { id: ann.person_id } },
    });
  });

  it('an iteration of the template’s own names its webhook', () => {
    const rework = { id: 'rework', label: 'Rework', kind: 'iteration', webhook_event: 'mail.rework' } as const;
    const led = asked({ config: { actions: [PRESETS.approve, rework] } }).when(doing(ann, 'rework'));
    expect(led.body('review.changes_requested')).toMatchObject({ action: { id: 'rework' }, webhook_event: 'mail.rework', feedback: null });
    expect(led.decision.schedule).toBeUndefined();
  });

  it('cancelling takes the request for changes back', () => {
    const led = changes({ config: { changes_timeout_hours: 2 } }).when(doing(bob, 'cancel_iteration'));
    expect(led.types).toEqual(['review.iteration_cancelled']);
    expect(led.decision.cancel).toEqual([{ stream: REVIEW, kind: 'changes_timeout' }]);
    expect(led.next.state).toMatchObject({
      status: 'pending',
      feedback: null,
      current_version: 1,
      last_act: { action: { id: 'cancel_iteration' } },
    });
  });

  it('rejecting while changes are awaited needs no reason', () => {
    const led = changes().when(doing(ann, 'reject_from_iteration'));
    expect(led.body('review.decided')).toMatchObject({ decision: 'rejected', action: { id: 'reject_from_iteration' }, feedback: null });
  });
});

describe('one request for changes too many (decision 27)', () => {
  const rounds = (n: number, max_iterations: number) => {
    let story = asked({ body: { max_iterations } });
    for (let version = 2; version <= n + 1; version++) {
      story = story.when(doing(ann, 'request_changes', { feedback: `round ${version}` })).next;
      story = story.when(resubmitted({ ...PAYLOAD, recipients: version }, version)).next;
    }
    return story;
  };

  it('allows as many rounds as it says', () => {
    expect(rounds(1, 2).when(doing(ann, 'request_changes', { feedback: 'x' })).types).toEqual(['review.changes_requested']);
  });

  it('closes the review in the command that asks for one more; a rule decides, and the person who asked is named', () => {
    const led = rounds(1, 1).when(doing(ann, 'request_changes', { feedback: 'Enough', prompt_edit: 'p' }));
    expect(led.types).toEqual(['review.decided']);
    expect(led.body('review.decided')).toMatchObject({
      decision: 'max_iterations_reached',
      trigger: 'max_iterations',
      decided_by: { kind: 'system', id: 'system:max_iterations' },
      acted_by: { id: ann.person_id },
      action: { id: 'request_changes' },
      version: 2,
      approved_value: null,
      approved_digest: null,
      feedback: 'Enough',
      prompt_edit: 'p',
    });
    expect(led.next.when(doing(ann, 'request_changes', { feedback: 'Enough' })).refusal).toBeUndefined();
  });

  it('does not count a request that was taken back', () => {
    const story = asked({ body: { max_iterations: 1 } }).when(doing(ann, 'request_changes', { feedback: 'a' })).next;
    const cancelled = story.when(doing(ann, 'cancel_iteration')).next;
    expect(cancelled.when(doing(ann, 'request_changes', { feedback: 'b' })).types).toEqual(['review.changes_requested']);
  });
});

describe('the deprecated routes', () => {
  it('mean the template’s own actions', () => {
    const how: Asked = { config: { actions: [SHIP, { ...PRESETS.reject, id: 'bin', label: 'Bin' }] } };
    const acted = (alias: 'approved' | 'rejected' | 'request_changes') => asked(how).when(doing(ann, { alias }, { feedback: 'f' }));
    expect(acted('approved').body('review.decided').action?.id).toBe('ship');
    expect(acted('rejected').body('review.decided').action?.id).toBe('bin');
    expect(acted('request_changes').body('review.changes_requested').action.id).toBe('request_changes');
    expect(changes(how).when(doing(ann, { alias: 'cancel_iteration' })).types).toEqual(['review.iteration_cancelled']);
  });

  it('mean the iteration a template has of its own', () => {
    const rework = { id: 'rework', label: 'Rework', kind: 'iteration' } as const;
    const led = asked({ config: { actions: [SHIP, rework] } }).when(doing(ann, { alias: 'request_changes' }));
    expect(led.body('review.changes_requested').action.id).toBe('rework');
  });

  it('may reject without a reason', () => {
    expect(
      asked()
        .when(doing(ann, { alias: 'rejected' }))
        .body('review.decided').decision,
    ).toBe('rejected');
  });

  it('know the action a client names by its value, and refuse what the template cannot say', () => {
    expect(
      asked({ config: { actions: [SHIP] } })
        .when(doing(ann, { alias: 'approved', value: 'ship' }))
        .body('review.decided').action?.id,
    ).toBe('ship');
    expect(
      asked()
        .when(doing(ann, { alias: 'approved', value: 'reject' }))
        .body('review.decided').decision,
    ).toBe('approved');
    expect(asked({ config: { actions: [SHIP] } }).when(doing(ann, { alias: 'rejected' })).code).toBe('action.unknown_action');
  });
});

describe('the order of the checks (HRP digest §2.4)', () => {
  const decided = () => asked().when(doing(bob, 'approve')).next;
  const cases: [string, ReturnType<typeof asked>, string, Partial<ActOnReview>, string, string?][] = [
    ['no review', empty(), 'approve', {}, 'review_not_found'],
    ['decided, whatever the action', decided(), 'nonsense', {}, 'review_already_decided'],
    ['expired, whatever the action', asked().when((s, now) => withdraw({ actor: agent }, s, now)).next, 'nonsense', {}, 'review_expired'],
    ['approving while changes are awaited', changes(), 'approve', {}, 'review_awaiting_changes'],
    ['rejecting while changes are awaited', changes(), 'reject', {}, 'review_awaiting_changes'],
    ['an unknown action', asked(), 'nonsense', {}, 'action.unknown_action', 'action_id'],
    ['an unknown action while changes are awaited', changes(), 'nonsense', {}, 'action.unknown_action'],
    ['a preset the template does not list', asked({ config: { actions: [SHIP] } }), 'approve', {}, 'action.unknown_action'],
    ['a side effect while changes are awaited', changes(), 'escalate', {}, 'action.status_not_allowed'],
    ['asking twice', changes(), 'request_changes', { feedback: 'other' }, 'action.status_not_allowed'],
    ['cancelling what nobody asked', asked(), 'cancel_iteration', {}, 'action.status_not_allowed'],
    ['reject_from_iteration while pending', asked(), 'reject_from_iteration', {}, 'action.status_not_allowed'],
    ['feedback before version', asked(), 'reject', { version: 9 }, 'action.feedback_required', 'feedback'],
    ['blank feedback', asked(), 'reject', { feedback: ' \n' }, 'action.feedback_required'],
    ['changes without a reason', asked(), 'request_changes', {}, 'action.feedback_required'],
    ['version before edits', asked(), 'approve', { version: 2, edited_payload: { recipients: 9 } }, 'version_mismatch'],
    ['another digest', asked(), 'approve', { payload_digest: digest({}) }, 'payload_digest_mismatch'],
    [
      'edits before whether changes may be asked for',
      asked({ config: { allow_request_changes: false } }),
      'request_changes',
      { feedback: 'x', edited_payload: { recipients: 9 } },
      'field_not_editable',
    ],
    [
      'changes the template does not allow',
      asked({ config: { allow_request_changes: false } }),
      'request_changes',
      { feedback: 'x' },
      'request_changes_not_allowed',
      'action_id',
    ],
    ['irreversible without either', asked(irreversible), 'approve', {}, 'version_required', 'version'],
    ['irreversible without the digest', asked(irreversible), 'approve', { version: 1 }, 'version_required', 'payload_digest'],
    [
      'irreversible without the version',
      asked(irreversible),
      'approve',
      { payload_digest: digest(PAYLOAD) },
      'version_required',
      'version',
    ],
  ];
  it.each(cases)('%s', (...[, story, action, more, code, param]) => {
    const led = story.when(doing(ann, action, more));
    expect(led.types).toEqual([]);
    expect(led.refusal).toMatchObject({ code, ...(param && { param }) });
  });

  it('an archived review has no action left, but says which it never had', () => {
    const story = decided().when((state, now) => archive({ actor: ann }, state, now)).next;
    expect(story.when(doing(ann, 'approve')).code).toBe('action.status_not_allowed');
    expect(story.when(doing(ann, 'nonsense')).code).toBe('action.unknown_action');
    const odd = { ...SHIP, enabled_for_status: ['archived' as const] };
    const archived = asked({ config: { actions: [odd, PRESETS.approve] } })
      .when(doing(bob, 'approve'))
      .next.when((s, now) => archive({ actor: ann }, s, now)).next;
    expect(archived.when(doing(ann, 'ship')).code).toBe('action.status_not_allowed');
  });

  it('an action enabled while changes are awaited decides then', () => {
    const anyway = { ...SHIP, enabled_for_status: ['pending' as const, 'awaiting_iteration' as const] };
    expect(changes({ config: { actions: [anyway] } }).when(doing(ann, 'ship')).types).toEqual(['review.decided']);
  });

  it('an irreversible review is decided with what the person saw; asking for changes needs no proof of it', () => {
    expect(
      asked(irreversible)
        .when(doing(ann, 'approve', seen))
        .body('review.decided').shown?.basis,
    ).toBe('exact');
    expect(asked(irreversible).when(doing(ann, 'request_changes', { feedback: 'x' })).types).toEqual(['review.changes_requested']);
  });

  it('a conflict says how the review stands', () => {
    expect(decided().when(doing(ann, 'reject', { feedback: 'x' })).refusal?.extra).toEqual({
      review: { id: REVIEW, status: 'decided', decision: 'approved', decided_by: 'bob@example.org', decided_at: at(0), current_version: 1 },
    });
    expect(changes().when(doing(bob, 'approve')).refusal?.extra).toMatchObject({
      review: { status: 'awaiting_iteration', decision: null, decided_by: null },
    });
  });
});

describe('the same click twice (decision 23)', () => {
  const click = { feedback: 'Fine', edited_payload: { subject: 'Hi' }, ...seen };
  const decided = () => asked().when(doing(ann, 'approve', click)).next;

  it.each([
    ['as it was', click],
    ['without saying what was seen', { feedback: 'Fine', edited_payload: { subject: 'Hi' } }],
  ])('is answered as the first: %s', (_what, again) => {
    const led = decided()
      .after(5)
      .when(doing(ann, 'approve', again));
    expect(led.types).toEqual([]);
    expect(led.refusal).toBeUndefined();
  });

  it.each([
    ['another person', bob, 'approve', click],
    ['another action', ann, 'reject', click],
    ['another feedback', ann, 'approve', { ...click, feedback: 'Good' }],
    ['no feedback', ann, 'approve', { ...click, feedback: undefined }],
    ['another edit', ann, 'approve', { ...click, edited_payload: { subject: 'Ho' } }],
    ['no edit', ann, 'approve', { ...click, edited_payload: undefined }],
    ['another version', ann, 'approve', { ...click, version: 2 }],
    ['another digest', ann, 'approve', { ...click, payload_digest: digest({}) }],
  ])('is a click of its own: %s', (_what, actor, action, again) => {
    expect(decided().when(doing(actor, action, again)).code).toBe('review_already_decided');
  });

  it('holds for asking for changes, a side effect and taking back', () => {
    const asking = doing(ann, 'request_changes', { feedback: 'Shorter' });
    expect(changes().when(asking).types).toEqual([]);
    expect(changes().when(asking).refusal).toBeUndefined();
    const nudged = asked().when(doing(ann, 'escalate')).next;
    expect(nudged.when(doing(ann, 'escalate')).types).toEqual([]);
    expect(nudged.when(doing(bob, 'escalate')).types).toEqual(['review.action_taken']);
    const back = changes().when(doing(ann, 'cancel_iteration')).next;
    expect(back.when(doing(ann, 'cancel_iteration'))).toMatchObject({ types: [], code: null });
  });

  it('ends with what undid it: the same words ask for changes anew', () => {
    const asking = doing(ann, 'request_changes', { feedback: 'Shorter' });
    const answered = changes().when(resubmitted()).next;
    expect(answered.when(asking).types).toEqual(['review.changes_requested']);
    const lapsed = changes({ config: { changes_timeout_hours: 1 } }).after(3600);
    expect(lapsed.when(asking).types).toEqual(['review.changes_timed_out', 'review.changes_requested']);
    const cancelled = changes().when(doing(bob, 'cancel_iteration')).next;
    expect(cancelled.when(asking).types).toEqual(['review.changes_requested']);
  });

  it('holds through the archive', () => {
    const story = decided().when((state, now) => archive({ actor: bob }, state, now)).next;
    expect(story.when(doing(ann, 'approve', click)).refusal).toBeUndefined();
    const back = story.when((state, now) => unarchive({ actor: bob }, state, now)).next;
    expect(back.when(doing(ann, 'approve', click)).refusal).toBeUndefined();
  });
});

describe('who may', () => {
  it.each([
    ['a key with every scope', agent, 'human_actor_required'],
    ['a key of another project', foreignAgent, 'human_actor_required'],
    ['a person of another project', stranger, 'review_not_found'],
    ['a person without a role', person('eve', null), 'review_not_found'],
  ])('not %s', (_who, actor, code) => {
    for (const action of ['approve', 'reject', 'request_changes', 'escalate', 'cancel_iteration']) {
      const led = asked(within('expire'))
        .after(2 * DAY)
        .when(doing(actor, action, { feedback: 'x' }));
      expect(led.code).toBe(code);
      expect(led.types).toEqual([]);
    }
  });

  it('neither whom it was asked for nor the owner of the key may approve; they may say no (decision 30)', () => {
    const how: Asked = { actor: ownedAgent, on_behalf_of: ann, config: { actions: [...CONFIG.actions.slice(1), SHIP] } };
    for (const interested of [owner, ann]) {
      for (const choice of ['ship', { alias: 'approved' as const }]) {
        expect(asked(how).when(doing(interested, choice)).code).toBe('requester_cannot_approve');
      }
      expect(asked(how).when(doing(interested, 'ship', { edited_payload: { subject: 'Hi' } })).code).toBe('requester_cannot_approve');
      expect(asked(how).when(doing(interested, 'reject', { feedback: 'No' })).types).toEqual(['review.decided']);
      expect(asked(how).when(doing(interested, 'request_changes', { feedback: 'x' })).types).toEqual(['review.changes_requested']);
      expect(asked(how).when(doing(interested, 'escalate')).types).toEqual(['review.action_taken']);
    }
    expect(asked(how).when(doing(bob, 'ship')).types).toEqual(['review.decided']);
  });

  it('nobody while somebody else holds it', () => {
    const held = asked().when((state, now) => claim({ actor: ann }, state, now)).next;
    for (const actor of [bob, chief]) {
      expect(held.when(doing(actor, 'approve')).refusal).toMatchObject({
        code: 'review_already_held',
        extra: { held_by: 'reviewer:ann@example.org', review: { status: 'pending' } },
      });
    }
    expect(held.when(doing(ann, 'approve')).types).toEqual(['review.decided']);
  });

  it('whoever has the role it is held for', () => {
    const hold = { ref: 'role:admin', person_id: null };
    const held = asked().when((state, now) => assign({ actor: chief, assignee: 'role:admin', hold }, state, now)).next;
    expect(held.when(doing(chief, 'approve')).types).toEqual(['review.decided']);
    expect(held.when(doing(bob, 'approve')).code).toBe('review_already_held');
  });
});

describe('too late (decision 25, R3)', () => {
  it('at the very instant of the deadline: the lapse and the attempt are recorded, the person is told', () => {
    const story = asked(within('expire')).after(DAY);
    const led = story.when(doing(ann, 'approve'));
    expect(led.types).toEqual(['review.expired', 'review.late_attempt_refused']);
    expect(led.decision).toMatchObject({ notBefore: at(DAY), notAfter: undefined });
    expect(led.refusal).toMatchObject({ code: 'review_expired', extra: { review: { status: 'expired' } } });
    expect(led.body('review.late_attempt_refused')).toEqual({
      by: { kind: 'person', id: ann.person_id, email: ann.email },
      attempt: 'act',
      action_id: 'approve',
      late_seconds: 0,
    });
  });

  it('a millisecond before it still counts', () => {
    expect(
      asked(within('expire'))
        .after(DAY - 0.001)
        .when(doing(ann, 'approve')).types,
    ).toEqual(['review.decided']);
  });

  it('is told what the clock decided', () => {
    const led = asked(within('auto_approve'))
      .after(DAY + 61)
      .when(doing(ann, 'reject', { feedback: 'No' }));
    expect(led.types).toEqual(['review.decided', 'review.late_attempt_refused']);
    expect(led.refusal).toMatchObject({
      code: 'review_already_decided',
      extra: { review: { decision: 'approved', decided_by: 'system:timeout', decided_at: at(DAY) } },
    });
    expect(led.body('review.late_attempt_refused').late_seconds).toBe(61);
  });

  it('is recorded once for each person and action', () => {
    const story = asked(within('expire')).after(DAY).when(doing(ann, 'approve')).next.after(60);
    expect(story.when(doing(ann, 'approve'))).toMatchObject({ types: [], code: 'review_expired' });
    expect(story.when(doing(ann, 'reject', { feedback: 'x' })).types).toEqual(['review.late_attempt_refused']);
    expect(story.when(doing(bob, { alias: 'approved' })).body('review.late_attempt_refused').action_id).toBe('approved');
  });

  it('decides anew where only the wait for changes had ended', () => {
    const led = changes({ config: { changes_timeout_hours: 1 } })
      .after(3600)
      .when(doing(bob, 'approve'));
    expect(led.types).toEqual(['review.changes_timed_out', 'review.decided']);
    expect(led.decision).toMatchObject({ notBefore: at(3600) });
  });
});

describe('keeping a draft', () => {
  it.each([
    ['pending', asked(), ann, null],
    ['changes are awaited', changes(), ann, null],
    ['decided', asked().when(doing(bob, 'approve')).next, ann, 'not_pending'],
    ['over', asked(within('expire')).after(DAY), ann, 'not_pending'],
    ['somebody else’s', asked().when((s, now) => claim({ actor: bob }, s, now)).next, ann, 'review_already_held'],
    ['a key', asked(), agent, 'human_actor_required'],
    ['no review', empty(), ann, 'review_not_found'],
  ])('%s', (_what, story, actor, code) => {
    expect(mayDraft(actor, story.state, story.now)?.code ?? null).toBe(code);
  });
});
