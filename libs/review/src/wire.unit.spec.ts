import { type Action, Review, ReviewVersions, validator } from '@countersign/contracts';
import { digest } from '@countersign/evidence';
import { describe, expect, it } from '@jest/globals';
import { archive, unarchive } from './commands/archive.js';
import { claim } from './commands/hold.js';
import { recordExecution, redeem } from './commands/redeem.js';
import { resubmit, withdraw } from './commands/submit.js';
import { labelsOf } from './labels.js';
import { type Asked, agent, ann, asked, at, bob, DAY, doing, ESCALATE, PAYLOAD, REVIEW, SHIP, within } from './review-fixture.js';
import { actionsOf, offeredActions, PRESETS, resolveAction } from './rules/actions.js';
import { approvalDeadline, commandDeadline } from './rules/deadline.js';
import { versionsOf } from './rules/versions.js';
import type { RequestedReview } from './state.js';
import { toWire, type WireExtras } from './wire.js';

type Told = ReturnType<typeof asked>;
const wire = (story: Told, extras?: WireExtras) => toWire(story.state as RequestedReview, story.now, extras);
const changes = (how: Asked = {}) => asked(how).when(doing(ann, 'request_changes', { feedback: 'Shorter', prompt_edit: 'p' })).next;
const edited = () =>
  asked()
    .after(60)
    .when(doing(ann, 'approve', { edited_payload: { subject: 'Hi' }, feedback: 'f', payload_digest: digest(PAYLOAD) })).next;
const executed = () =>
  edited()
    .when((s, now) =>
      redeem(
        { actor: agent, redemption_id: 'rdm_00000000000000000000000001', presented: { value: { ...PAYLOAD, subject: 'Hi' } } },
        s,
        now,
      ),
    )
    .next.when((s, now) => recordExecution({ actor: agent, execution_id: 'exe_00000000000000000000000001', status: 'failed' }, s, now))
    .next;
const maximal = () => asked({ body: { max_iterations: 1 } });

const STORIES: Record<string, Told> = {
  pending: asked({
    ...within('expire'),
    body: { metadata: { a: 1 }, callback_url: 'https://a.example', idempotency_key: 'k' },
    on_behalf_of: bob,
  }),
  held: asked().when((s, now) => claim({ actor: ann }, s, now)).next,
  'awaiting changes': changes(),
  edited: edited(),
  executed: executed(),
  rejected: asked().when(doing(ann, 'reject', { feedback: 'No' })).next,
  'auto-approved': asked({ config: { auto_approve: true } }),
  'approved by the clock': asked(within('auto_approve')).after(DAY),
  expired: asked(within('expire')).after(DAY),
  withdrawn: asked().when((s, now) => withdraw({ actor: agent, reason: 'r' }, s, now)).next,
  archived: edited().when((s, now) => archive({ actor: ann }, s, now)).next,
  'rejected meanwhile': changes().when(doing(ann, 'reject_from_iteration')).next,
  'iterations used up': maximal()
    .when(doing(ann, 'request_changes', { feedback: 'x' }))
    .next.when((s, now) => resubmit({ actor: agent, payload: PAYLOAD, version: 2 }, s, now))
    .next.when(doing(ann, 'request_changes', { feedback: 'y' })).next,
};

describe('the review on the wire', () => {
  it.each(Object.entries(STORIES))('keeps to its contract, no key more and none less: %s', (_what, story) => {
    expect(validator(Review, 'exact')(JSON.parse(JSON.stringify(wire(story))))).toMatchObject({ ok: true });
  });

  it('says what a person decided, on what, and how they had proved themselves', () => {
    expect(wire(edited())).toMatchObject({
      status: 'decided',
      decision: 'edited',
      decided_by: 'ann@example.org',
      decided_by_verified: true,
      decided_by_auth: { method: 'password', at: '2026-11-30T08:59:00.000Z' },
      decided_at: at(60),
      shown: 'exact',
      auto_approved: false,
      action_value: 'approve',
      action_label: 'Approve',
      edited_payload: { subject: 'Hi' },
      was_edited: true,
      approved_value: { ...PAYLOAD, subject: 'Hi' },
      approved_digest: digest({ ...PAYLOAD, subject: 'Hi' }),
      feedback: 'f',
      last_action_id: 'approve',
      last_action_kind: 'decision',
      last_action_at: at(60),
      last_action_by: 'reviewer:ann@example.org',
      payload: PAYLOAD,
      payload_digest: digest(PAYLOAD),
    });
  });

  it('names the rule where none decided', () => {
    expect(wire(STORIES['auto-approved'] as Told)).toMatchObject({
      decided_by: 'system/auto-approve',
      decided_by_verified: null,
      decided_by_auth: null,
      shown: null,
      auto_approved: true,
      action_value: 'auto_approve',
      action_label: 'Auto-approved',
      last_action_id: null,
      last_action_by: null,
    });
    expect(wire(STORIES['approved by the clock'] as Told)).toMatchObject({
      status: 'decided',
      decided_by: 'system:timeout',
      decided_at: at(DAY),
      auto_approved: false,
      action_value: null,
      action_label: null,
    });
    expect(wire(STORIES['iterations used up'] as Told)).toMatchObject({
      decision: 'max_iterations_reached',
      decided_by: 'system:max_iterations',
      decided_by_verified: null,
      action_value: 'request_changes',
      last_action_by: 'reviewer:ann@example.org',
      iteration_count: 1,
    });
  });

  it('is settled by the time it is read at, though nothing is written (decision 25)', () => {
    const { state } = asked(within('expire'));
    expect(toWire(state as RequestedReview, at(DAY - 1)).status).toBe('pending');
    expect(toWire(state as RequestedReview, at(DAY))).toMatchObject({
      status: 'expired',
      decision: null,
      expires_at: at(DAY),
      updated_at: at(DAY),
      settled_at: at(DAY),
    });
    expect(toWire(state as RequestedReview, at(9 * DAY))).toEqual(toWire(state as RequestedReview, at(DAY)));
  });

  it('says when it ended, whatever was done to it since', () => {
    const later = (story: Told) => story.after(DAY).when((s, now) => archive({ actor: ann }, s, now)).next;
    const withdrawn = asked()
      .after(60)
      .when((s, now) => withdraw({ actor: agent }, s, now)).next;
    const late = asked(within('expire')).after(DAY).after(60).when(doing(ann, 'approve')).next;
    expect(
      [edited(), later(edited()), withdrawn, later(withdrawn), late, later(late), changes()].map((story) => wire(story).settled_at),
    ).toEqual([at(60), at(60), at(60), at(60), at(DAY), at(DAY), null]);
  });

  it('says what the agent was asked for, until it answers, also when the review ends before', () => {
    const request = { feedback: 'Shorter', edited_payload: null, requested_by: 'reviewer:ann@example.org', requested_at: at(0) };
    const meanwhile = (how: Asked = {}) => changes(how).after(60);
    const rejected = meanwhile().when(doing(bob, 'reject_from_iteration', { feedback: 'Too late' })).next;
    expect(wire(rejected)).toMatchObject({ decision: 'rejected', feedback: 'Too late', change_request: request });
    const archived = rejected.when((s, now) => archive({ actor: ann }, s, now)).next;
    const unanswered = [
      changes(),
      archived,
      archived.when((s, now) => unarchive({ actor: ann }, s, now)).next,
      meanwhile().when((s, now) => withdraw({ actor: agent }, s, now)).next,
      meanwhile(within('expire')).after(DAY),
      meanwhile(within('auto_reject')).after(DAY),
    ];
    for (const story of unanswered) expect(wire(story).change_request).toEqual(request);

    const answered = meanwhile().when((s, now) => resubmit({ actor: agent, payload: PAYLOAD, version: 2 }, s, now)).next;
    const approved = answered.when(doing(bob, 'approve')).next;
    const takenBack = meanwhile().when(doing(ann, 'cancel_iteration')).next;
    for (const story of [asked(), answered, approved, takenBack, edited(), STORIES['iterations used up'] as Told]) {
      expect(wire(story).change_request).toBeNull();
    }
  });

  it('hands the agent the edits that came with a request for changes', () => {
    const edited_payload = { subject: 'Like this' };
    const suggested = asked().when(doing(ann, 'request_changes', { feedback: 'Shorter', edited_payload })).next;
    const rejected = suggested.after(60).when(doing(bob, 'reject_from_iteration')).next;
    for (const story of [suggested, rejected]) expect(wire(story).change_request).toMatchObject({ feedback: 'Shorter', edited_payload });
    expect(wire(suggested)).toMatchObject({ edited_payload: null, was_edited: false });
  });

  it('says what waits, who holds and what was withdrawn', () => {
    expect(wire(changes())).toMatchObject({
      status: 'awaiting_iteration',
      feedback: 'Shorter',
      prompt_edit: 'p',
      last_action_kind: 'iteration',
    });
    expect(wire(STORIES.held as Told)).toMatchObject({ held_by: 'reviewer:ann@example.org', held_at: at(0) });
    expect(wire(STORIES.withdrawn as Told)).toMatchObject({ status: 'expired', withdrawn: true, withdrawn_reason: 'r' });
    expect(wire(STORIES.pending as Told)).toMatchObject({
      withdrawn: false,
      withdrawn_reason: null,
      on_behalf_of: bob.person_id,
      requested_by: agent.key_id,
      requested_by_name: agent.name,
    });
  });

  it('says what ran', () => {
    expect(wire(executed())).toMatchObject({
      redemption: { object: 'redemption', review_id: REVIEW, redeemed_by: 'agent:gwk_0123abcd' },
      executions: [{ object: 'execution', review_id: REVIEW, status: 'failed', reported_by: 'agent:gwk_0123abcd' }],
    });
  });

  it('carries what is not in the stream', () => {
    const draft = { payload: { subject: 'H' }, by: 'ann@example.org', at: at(1) };
    expect(wire(asked(), { draft, notification_delivery_failed: true })).toMatchObject({
      draft_payload: { subject: 'H' },
      draft_by: 'ann@example.org',
      draft_at: at(1),
      notification_delivery_failed: true,
    });
    expect(wire(asked(), { draft: null })).toMatchObject({ draft_payload: null, notification_delivery_failed: false });
  });

  it('says until when an approval counts', () => {
    const story = asked({ config: { approval_valid_seconds: 60 } });
    expect(wire(story).approval_expires_at).toBeNull();
    expect(wire(story.when(doing(ann, 'approve')).next).approval_expires_at).toBe(at(60));
    expect(wire(story.when(doing(ann, 'reject', { feedback: 'n' })).next).approval_expires_at).toBeNull();
    expect(approvalDeadline(edited().state as RequestedReview)).toBeNull();
  });
});

describe('the versions of a review', () => {
  it('are what the agent sent, newest first, each with the feedback that asked for it', () => {
    const next = { ...PAYLOAD, subject: 'Hey' };
    const story = changes()
      .after(5)
      .when((s, now) => resubmit({ actor: agent, payload: next, version: 2 }, s, now)).next;
    const items = versionsOf(story.events);
    expect(items).toMatchObject([
      {
        version: 2,
        payload: next,
        payload_digest: digest(next),
        feedback: 'Shorter',
        created_at: at(5),
        id: 'ver_00000000000000000000000003',
      },
      { version: 1, payload: PAYLOAD, feedback: null, created_at: at(0), id: 'ver_00000000000000000000000001' },
    ]);
    expect(validator(ReviewVersions, 'exact')({ items })).toMatchObject({ ok: true });
  });

  it('are gone once erased (K4)', () => {
    const erased = asked().events.map((event) => ({ ...event, body: null, redacted: true }) as never);
    expect(versionsOf(erased)).toEqual([]);
  });
});

describe('the actions of a review', () => {
  const ids = (story: Told) => offeredActions(story.state as RequestedReview).map((action) => action.id);

  it('are those offered in its status', () => {
    expect(ids(asked())).toEqual(['approve', 'reject', 'escalate', 'request_changes']);
    expect(ids(asked({ config: { allow_request_changes: false } }))).toEqual(['approve', 'reject', 'escalate']);
    expect(ids(changes())).toEqual(['cancel_iteration', 'reject_from_iteration']);
    expect(ids(edited())).toEqual([]);
  });

  it('are none once it is settled, whatever an action says it is for', () => {
    const always: Action = { ...ESCALATE, enabled_for_status: ['pending', 'decided', 'expired'] };
    const story = asked({ config: { ...within('expire').config, actions: [SHIP, always] } });
    expect(ids(story)).toContain('escalate');
    expect(ids(story.when(doing(ann, 'ship')).next)).toEqual([]);
    expect(toWire(story.state as RequestedReview, at(DAY)).available_actions).toEqual([]);
  });

  it('are on the wire as they stand at the time of the read', () => {
    const story = changes({ config: { changes_timeout_hours: 1 } });
    const shown = (now: string) => toWire(story.state as RequestedReview, now).available_actions.map(({ id, label }) => `${id}: ${label}`);
    expect(shown(at(3599))).toEqual(['cancel_iteration: Cancel the request for changes', 'reject_from_iteration: Reject']);
    expect(shown(at(3600))).toEqual(['approve: Approve', 'reject: Reject', 'escalate: Escalate', 'request_changes: Request changes']);
  });

  it('name request_changes once, in the template’s words where it has some', () => {
    const own = { ...PRESETS.request_changes, label: 'Send back' };
    const story = asked({ config: { actions: [SHIP, own] } });
    const all = actionsOf(story.state as RequestedReview).filter((action) => action.id === 'request_changes');
    expect(all).toEqual([own]);
    expect(resolveAction(story.state as RequestedReview, { alias: 'request_changes' })).toEqual(own);
  });
});

describe('what travels beside', () => {
  it('labels events with the template and the priority', () => {
    expect(labelsOf(asked().state as RequestedReview)).toEqual({ template_slug: 'mail', priority: 'normal' });
  });

  it('bounds a command by whichever end comes first', () => {
    const both = (hours: number) => changes({ ...within('expire'), config: { ...within('expire').config, changes_timeout_hours: hours } });
    expect(commandDeadline(both(1).state as RequestedReview)).toBe(at(3600));
    expect(commandDeadline(both(48).state as RequestedReview)).toBe(at(DAY));
    expect(commandDeadline(changes().state as RequestedReview)).toBeNull();
    expect(commandDeadline(edited().state as RequestedReview)).toBeNull();
  });
});
