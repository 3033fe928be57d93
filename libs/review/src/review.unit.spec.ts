import { REVIEW_EVENTS, type ReviewEvent } from '@countersign/contracts';
import { type StoredEvent, UnknownEventError } from '@countersign/event-store';
import { describe, expect, it } from '@jest/globals';
import { draftStands } from './commands/decide.js';
import { elapse } from './commands/elapse.js';
import { redeem } from './commands/redeem.js';
import { resubmit } from './commands/submit.js';
import { evolve } from './review.js';
import { agent, ann, asked, bob, DAY, doing, empty, PAYLOAD, within } from './review-fixture.js';
import type { ReviewState } from './state.js';

type Stored = StoredEvent<ReviewEvent>;

const whole = () =>
  asked(within('expire'))
    .when(doing(ann, 'request_changes', { feedback: 'x' }))
    .next.when((s, now) => resubmit({ actor: agent, payload: PAYLOAD, version: 2 }, s, now))
    .next.when(doing(ann, 'escalate'))
    .next.when(doing(ann, 'approve'))
    .next.when((s, now) => redeem({ actor: agent, redemption_id: 'rdm_00000000000000000000000001', presented: { value: PAYLOAD } }, s, now))
    .next;

const fold = (events: readonly Stored[], state: ReviewState = { status: 'none' }): ReviewState => events.reduce<ReviewState>(evolve, state);

describe('folding a review', () => {
  it('gives plain JSON', () => {
    for (const story of [asked(), whole(), asked(within('auto_approve'))]) {
      expect(JSON.parse(JSON.stringify(story.state))).toEqual(story.state);
    }
  });

  it('R1: takes every fact in every status, and what cannot follow changes nothing', () => {
    const statuses = [
      asked(),
      asked().when(doing(ann, 'request_changes', { feedback: 'x' })).next,
      asked().when(doing(ann, 'approve')).next,
      whole(),
    ];
    const facts = whole().events;
    expect(new Set(facts.map((event) => event.type)).size).toBe(facts.length);
    for (const { state } of statuses) {
      for (const event of facts) expect(evolve(state, event).status).not.toBe('none');
      expect(evolve(state, facts[0] as Stored)).toEqual(state);
    }
    const pending = asked().state;
    const answer = facts.find((event) => event.type === 'review.resubmitted') as Stored;
    expect(evolve(pending, answer)).toEqual(pending);
    const decided = asked().when(doing(ann, 'approve')).next;
    expect(Object.keys(decided.state)).not.toContain('unanswered');
    expect(fold(decided.events.slice(1), decided.state)).toEqual(decided.state);
    const archived = { type: 'review.archived', body: { by: { kind: 'person', id: ann.person_id, email: ann.email } } } as const;
    expect(decided.happened(archived).after(5).happened(archived).state).toMatchObject({ status: 'archived', archived_at: decided.now });
    expect(asked().happened({ type: 'review.unarchived', body: archived.body }).state).toMatchObject({ status: 'pending' });
    expect(decided.happened({ type: 'review.unarchived', body: archived.body }).state).toEqual(decided.state);
  });

  it('R1, K4: a fact whose body was taken away changes nothing, and a request without one is erased', () => {
    const [request, ...rest] = whole().events.map((event) => ({ ...event, body: null, redacted: true })) as unknown as Stored[];
    expect(evolve({ status: 'none' }, request as Stored)).toEqual({ status: 'none', erased: true });
    const pending = asked().state;
    for (const event of rest) expect(evolve(pending, event)).toBe(pending);
  });

  it('R1: dates an end by the fact itself where the review has no window, nor the wait an end', () => {
    const story = asked().after(5);
    const expired = story.happened({ type: 'review.expired', body: { timeout_action: 'expire', after_seconds: 60 } });
    expect(expired.state).toMatchObject({ status: 'expired', outcome: { expired_at: story.now } });
    const { body } = asked(within('auto_reject'))
      .after(DAY)
      .when((s, now) => elapse('timeout', s, now)).decision.events[0] as Extract<ReviewEvent, { type: 'review.decided' }>;
    expect(story.happened({ type: 'review.decided', body }).state).toMatchObject({ status: 'decided', outcome: { decided_at: story.now } });
    const waiting = asked()
      .when(doing(ann, 'request_changes', { feedback: 'x' }))
      .next.after(5);
    const over = waiting.happened({ type: 'review.changes_timed_out', body: { version: 1, after_seconds: 60 } });
    expect(over.state).toMatchObject({ status: 'pending', updated_at: waiting.now });
    expect(waiting.happened({ type: 'review.redeemed', body: {} as never }).state).toEqual(waiting.state);
    expect(expired.happened({ type: 'review.redeemed', body: {} as never }).state).toEqual(expired.state);
  });

  it('R1: begins with the request: what comes before it is of no review', () => {
    expect(fold(whole().events.slice(1))).toEqual({ status: 'none' });
    expect(empty().state).toEqual({ status: 'none' });
  });

  it('K4: an erased review is none, for whoever folds it whole and for whoever had it before', () => {
    const marker = { ...(asked().events[0] as Stored), type: 'stream.redacted', body: {} } as unknown as Stored;
    const erased = [...whole().events.map((event) => ({ ...event, body: null, redacted: true }) as unknown as Stored), marker];
    expect(fold(erased)).toEqual({ status: 'none', erased: true });
    expect(evolve(whole().state, marker)).toEqual({ status: 'none', erased: true });
    expect(fold(whole().events, fold(erased))).toEqual({ status: 'none', erased: true });
    expect(empty().when(doing(ann, 'approve')).code).toBe('review_not_found');
  });

  it('K4: one erased body among others is passed over', () => {
    const { events } = asked().when(doing(ann, 'escalate')).next;
    const [first, second] = events as [Stored, Stored];
    expect(fold([first, { ...second, body: null, redacted: true } as unknown as Stored])).toEqual(asked().state);
  });

  it('R3: does not pass over a type it does not know', () => {
    const unknown = { ...(asked().events[0] as Stored), type: 'review.snoozed' } as unknown as Stored;
    for (const state of [empty().state, asked().state]) {
      expect(() => evolve(state, unknown)).toThrow(UnknownEventError);
      expect(() => evolve(state, { ...unknown, body: null } as unknown as Stored)).toThrow(/review\.snoozed/);
    }
  });

  it('knows every type there is', () => {
    for (const type of Object.keys(REVIEW_EVENTS)) {
      const event = { ...(asked().events[0] as Stored), type, body: null, redacted: true } as unknown as Stored;
      expect(() => evolve(asked().state, event)).not.toThrow();
    }
  });
});

describe('a draft', () => {
  const sendingBack = doing(bob, 'request_changes', { feedback: 'x' });
  const answering = (state: ReviewState, now: string) => resubmit({ actor: agent, payload: PAYLOAD, version: 2 }, state, now);

  it('stands through what changes nothing of what it is about', () => {
    const story = asked({ config: { changes_timeout_hours: 1 } }).after(10);
    const draft = { at: story.now };
    expect(draftStands(story.state, draft)).toBe(true);
    expect(draftStands(story.after(1).when(doing(bob, 'escalate')).next.state, draft)).toBe(true);
    const awaiting = story.when(sendingBack).next.after(1);
    const typed = { at: awaiting.now };
    const back = awaiting.after(3600).when((state, now) => elapse('changes_timeout', state, now)).next;
    expect([back.state.status, draftStands(back.state, typed)]).toEqual(['pending', true]);
  });

  it('is pointless after a request for changes, its answer, its end, and once the review is settled', () => {
    const story = asked().after(10);
    const sentBack = story.when(sendingBack).next;
    expect(draftStands(sentBack.state, { at: story.now })).toBe(false);
    const later = sentBack.after(1);
    expect(draftStands(later.state, { at: later.now })).toBe(true);
    for (const ended of [later.when(answering).next, later.when(doing(ann, 'cancel_iteration')).next]) {
      expect(ended.state.status).toBe('pending');
      expect(draftStands(ended.state, { at: later.now })).toBe(false);
      expect(draftStands(ended.when(doing(bob, 'escalate')).next.state, { at: later.now })).toBe(false);
      expect(draftStands(ended.state, { at: ended.after(1).now })).toBe(true);
    }
    expect(draftStands(story.when(doing(bob, 'approve')).next.state, { at: story.after(9).now })).toBe(false);
  });
});
