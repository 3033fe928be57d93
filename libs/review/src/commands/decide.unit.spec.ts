import { digest } from '@countersign/evidence';
import { describe, expect, it } from '@jest/globals';
import { type Asked, agent, ann, asked, at, bob, DAY, doing, PAYLOAD, REVIEW, SHIP, within } from '../review-fixture.js';
import { PRESETS } from '../rules/actions.js';
import type { ReviewState } from '../state.js';
import { claim } from './hold.js';
import { resubmit } from './submit.js';

const changes = (how: Asked = {}, feedback = 'Shorter') => asked(how).when(doing(ann, 'request_changes', { feedback })).next;
const resubmitted =
  (payload = PAYLOAD, version = 2) =>
  (state: ReviewState, now: string) =>
    resubmit({ actor: agent, payload, version }, state, now);
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
    expect(led.refusal).toMatchObject({
      code: 'field_not_editable',
      param: 'edited_payload.recipients',
      details: ['recipients', 'tracking', 'unheard'].map((key) => {
        return { path: `edited_payload.${key}`, message: 'is not editable', code: 'custom' };
      }),
    });
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
