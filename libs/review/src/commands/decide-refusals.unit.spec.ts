import { digest } from '@countersign/evidence';
import { describe, expect, it } from '@jest/globals';
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
} from '../review-fixture.js';
import { PRESETS } from '../rules/actions.js';
import type { ReviewState } from '../state.js';
import { archive, unarchive } from './archive.js';
import type { ActOnReview } from './decide.js';
import { assign, claim } from './hold.js';
import { resubmit, withdraw } from './submit.js';

const changes = (how: Asked = {}, feedback = 'Shorter') => asked(how).when(doing(ann, 'request_changes', { feedback })).next;
const resubmitted =
  (payload = PAYLOAD, version = 2) =>
  (state: ReviewState, now: string) =>
    resubmit({ actor: agent, payload, version }, state, now);
const irreversible: Asked = { body: { irreversibility: 'irreversible' } };
const seen = { version: 1, payload_digest: digest(PAYLOAD) };

describe('the order of the checks (HRP §2.4)', () => {
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
    expect(story.when(doing(bob, { alias: 'approved' })).body('review.late_attempt_refused').action_id).toBe('approve');
    const nonsense = story.when(doing(ann, 'nonsense'));
    expect(nonsense.body('review.late_attempt_refused').action_id).toBeNull();
    expect(nonsense.next.when(doing(ann, 'other nonsense')).types).toEqual([]);
  });

  it('is not recorded for what could not be done in time either, nor on what was archived', () => {
    const over = asked(within('expire')).after(DAY);
    const story = over.when((s, now) => archive({ actor: bob }, s, now)).next;
    expect(story.when(doing(ann, 'approve'))).toMatchObject({ types: [], code: 'action.status_not_allowed' });
    expect(asked().when(doing(bob, 'approve')).next.after(DAY).when(doing(ann, 'approve'))).toMatchObject({ types: [] });
  });

  it('decides anew where only the wait for changes had ended', () => {
    const led = changes({ config: { changes_timeout_hours: 1 } })
      .after(3600)
      .when(doing(bob, 'approve'));
    expect(led.types).toEqual(['review.changes_timed_out', 'review.decided']);
    expect(led.decision).toMatchObject({ notBefore: at(3600) });
  });
});
