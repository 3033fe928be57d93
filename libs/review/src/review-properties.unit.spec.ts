/** What holds for every story, told by generated commands of agents, people and the clock. */

import type { Actor, ReviewEvent } from '@countersign/contracts';
import { digest } from '@countersign/evidence';
import type { Story } from '@countersign/testing';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { archive, unarchive } from './commands/archive.js';
import { act } from './commands/decide.js';
import { elapse, type Judged, settle, TIMERS } from './commands/elapse.js';
import { assign, claim, release, unassign } from './commands/hold.js';
import { recordExecution, redeem } from './commands/redeem.js';
import { resubmit, withdraw } from './commands/submit.js';
import { evolve, isOpen } from './review.js';
import { agent, ann, asked, bob, CONFIG, chief, foreignAgent, ownedAgent, owner, PAYLOAD, stranger } from './review-fixture.js';
import { effectiveDeadline } from './rules/deadline.js';
import type { RequestedReview, ReviewState } from './state.js';

interface Command {
  name: string;
  actor: Actor | null;
  decide: (state: ReviewState, now: string) => Judged;
}

const HUMAN_COMMANDS = new Set(['act', 'claim', 'release', 'assign']);

const actor = () => fc.constantFrom<Actor>(ann, bob, chief, owner, stranger, agent, ownedAgent, foreignAgent, { kind: 'anonymous' });
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const payload = () => fc.record({ subject: fc.constantFrom('Hello', 'Hi', 'Hey'), recipients: fc.integer({ min: 1, max: 3 }) });

const choice = () =>
  fc.oneof(
    fc.record({
      id: fc.constantFrom('approve', 'reject', 'request_changes', 'escalate', 'cancel_iteration', 'reject_from_iteration', 'none'),
    }),
    fc.record({
      alias: fc.constantFrom('approved' as const, 'rejected' as const, 'request_changes' as const, 'cancel_iteration' as const),
    }),
  );

const acting = (who: fc.Arbitrary<Actor>): fc.Arbitrary<Command> =>
  fc
    .record({
      actor: who,
      action: choice(),
      feedback: maybe(fc.constantFrom('a', 'b', ' ')),
      edited_payload: maybe(fc.oneof(payload(), fc.constant({ subject: 'Edited' }), fc.constant({ recipients: 99 }))),
      version: maybe(fc.integer({ min: 1, max: 3 })),
      payload_digest: maybe(fc.constantFrom(digest(PAYLOAD), digest({}))),
    })
    .map((command) => ({ name: 'act', actor: command.actor, decide: (state, now) => act(command, state, now) }));

const others = (): fc.Arbitrary<Command> =>
  fc.oneof(
    fc.record({ actor: actor(), payload: payload(), version: fc.integer({ min: 1, max: 4 }) }).map((c) => ({
      name: 'resubmit',
      actor: c.actor,
      decide: (state: ReviewState, now: string) => {
        // Mostly the next version, so that stories go on.
        const version = 'current_version' in state && c.version > 1 ? state.current_version + 1 : c.version;
        return resubmit({ ...c, version }, state, now);
      },
    })),
    fc
      .record({ actor: actor(), force: fc.boolean() })
      .map((c) => ({ name: 'claim', actor: c.actor, decide: (s: ReviewState, now: string) => claim(c, s, now) })),
    actor().map((a) => ({ name: 'release', actor: a, decide: (s: ReviewState, now: string) => release({ actor: a }, s, now) })),
    fc.record({ actor: actor(), hold: fc.constantFrom(null, { ref: 'role:admin', person_id: null }) }).map((c) => ({
      name: 'assign',
      actor: c.actor,
      decide: (s: ReviewState, now: string) => assign({ ...c, assignee: 'role:admin' }, s, now),
    })),
    fc.constantFrom(ann, bob, chief).map(({ person_id }) => ({
      name: 'unassign',
      actor: null,
      decide: (s: ReviewState, now: string) => unassign({ person_id, reason: 'membership_ended' }, s, now),
    })),
    actor().map((a) => ({ name: 'archive', actor: a, decide: (s: ReviewState, now: string) => archive({ actor: a }, s, now) })),
    actor().map((a) => ({ name: 'unarchive', actor: a, decide: (s: ReviewState, now: string) => unarchive({ actor: a }, s, now) })),
    fc.record({ actor: actor(), value: fc.oneof(payload(), fc.constant(PAYLOAD)) }).map((c) => ({
      name: 'redeem',
      actor: c.actor,
      decide: (s: ReviewState, now: string) =>
        redeem({ actor: c.actor, redemption_id: 'rdm_00000000000000000000000001', presented: { value: c.value } }, s, now),
    })),
    fc.record({ actor: actor(), status: fc.constantFrom('succeeded' as const, 'failed' as const) }).map((c) => ({
      name: 'execution',
      actor: c.actor,
      decide: (s: ReviewState, now: string) => recordExecution({ ...c, execution_id: 'exe_00000000000000000000000001' }, s, now),
    })),
    fc
      .constantFrom(...TIMERS)
      .map((timer) => ({ name: timer, actor: null, decide: (s: ReviewState, now: string) => elapse(timer, s, now) })),
  );

const withdrawing = (): fc.Arbitrary<Command> =>
  actor().map((a) => ({ name: 'withdraw', actor: a, decide: (s: ReviewState, now: string) => withdraw({ actor: a }, s, now) }));

interface Step {
  wait: number;
  command: Command;
}

const step = (who: fc.Arbitrary<Actor> = actor()): fc.Arbitrary<Step> =>
  fc.record({
    wait: fc.oneof(
      { weight: 4, arbitrary: fc.constant(0) },
      { weight: 4, arbitrary: fc.integer({ min: 1, max: 900 }) },
      { weight: 1, arbitrary: fc.constant(3600) },
    ),
    command: fc.oneof({ weight: 8, arbitrary: acting(who) }, { weight: 8, arbitrary: others() }, { weight: 1, arbitrary: withdrawing() }),
  });

const beginning = (): fc.Arbitrary<Story<ReviewState, ReviewEvent>> =>
  fc
    .record({
      timeout_action: fc.constantFrom('auto_approve' as const, 'auto_reject' as const, 'expire' as const, null),
      changes_timeout_hours: fc.constantFrom(null, 1),
      max_iterations: fc.constantFrom(null, 1, 2),
      auto_approve: fc.constantFrom(false, false, false, true),
      approval_valid_seconds: fc.constantFrom(null, 600),
      allow_request_changes: fc.constantFrom(true, true, false),
      by: fc.constantFrom(agent, ownedAgent),
      body: fc.record({ payload: fc.constant(PAYLOAD), irreversibility: fc.constantFrom('reversible' as const, 'irreversible' as const) }),
    })
    .map(({ by, body, ...config }) =>
      asked({ actor: by, body, config: { ...CONFIG, ...config, timeout_seconds: config.timeout_action === null ? null : 3600 } }),
    );

/** Tells a story, and looks at every step of it. */
function tell(
  begin: Story<ReviewState, ReviewEvent>,
  steps: Step[],
  look: (before: Story<ReviewState, ReviewEvent>, command: Command, led: ReturnType<typeof begin.when<Judged>>) => void = () => undefined,
): Story<ReviewState, ReviewEvent> {
  return steps.reduce((story, { wait, command }) => {
    const before = story.after(wait);
    const led = before.when(command.decide);
    look(before, command, led);
    return led.next;
  }, begin);
}

const stories = (look: Parameters<typeof tell>[2], done: (story: Story<ReviewState, ReviewEvent>) => void = () => undefined) =>
  fc.assert(
    fc.property(beginning(), fc.array(step(), { minLength: 1, maxLength: 25 }), (begin, steps) => done(tell(begin, steps, look))),
    { numRuns: 300 },
  );

/** HRP §2.2, as far as it is built. */
const EDGES: Record<string, string[]> = {
  pending: ['pending', 'awaiting_iteration', 'decided', 'expired'],
  awaiting_iteration: ['awaiting_iteration', 'pending', 'decided', 'expired'],
  decided: ['decided', 'archived'],
  expired: ['expired', 'archived'],
  archived: ['archived', 'decided', 'expired'],
};

const CLOCK = new Set(['review.expired', 'review.changes_timed_out', 'review.late_attempt_refused']);
const ofTheClock = (event: ReviewEvent) => CLOCK.has(event.type) || (event.type === 'review.decided' && event.body.trigger === 'timeout');

describe('every story of a review', () => {
  it('can be folded from any prefix of its facts', () => {
    stories(undefined, (story) => {
      let state: ReviewState = { status: 'none' };
      for (const event of story.events) {
        state = evolve(state, event);
        expect(JSON.parse(JSON.stringify(state))).toEqual(state);
      }
      expect(state).toEqual(story.state);
    });
  });

  it('is not changed by the same command again', () => {
    stories((_before, command, led) => {
      expect(led.next.when(command.decide).types).toEqual([]);
    });
  });

  it('moves along the statuses of the protocol only', () => {
    stories((before, _command, led) => {
      let state = before.state;
      for (const event of led.next.events.slice(before.events.length)) {
        const next = evolve(state, event);
        expect(EDGES[state.status]).toContain(next.status);
        state = next;
      }
    });
  });

  it('has no act of a person at or after its deadline', () => {
    stories((before, command, led) => {
      if (!isOpen(before.state)) return;
      const deadline = effectiveDeadline(before.state);
      if (deadline === null || before.now < deadline) return;
      for (const event of led.decision.events)
        if (isOpen(before.state)) expect([event.type, ofTheClock(event) || afterSettling(event)]).toEqual([event.type, true]);
      if (command.name === 'act' && led.decision.events.length > 0) expect(led.refusal).toBeDefined();
    });
  });

  it('asks the store to hold every open review’s command to its deadline', () => {
    stories((before, _command, led) => {
      if (!isOpen(before.state) || led.decision.events.length === 0) return;
      const deadline = effectiveDeadline(before.state);
      if (deadline !== null && before.now < deadline && led.decision.events.some((event) => !ofTheClock(event))) {
        expect(led.decision.notAfter).toBeDefined();
        expect((led.decision.notAfter as string) <= deadline).toBe(true);
      }
    });
  });

  it('has each decision made by the person who sent the command, or by a rule', () => {
    stories((before, command, led) => {
      for (const event of led.decision.events) {
        if (event.type !== 'review.decided' || event.body.decided_by.kind !== 'person') continue;
        expect(command).toMatchObject({ name: 'act', actor: { kind: 'person', person_id: event.body.decided_by.id } });
        expect(event.body.proof).not.toBeNull();
        const { answerable } = before.state as RequestedReview;
        if (event.body.approved_digest !== null) expect(answerable).not.toContain(event.body.decided_by.id);
      }
    });
  });

  it('records what is approved by the digest of its exact value, and nothing else as approved', () => {
    stories((before, _command, led) => {
      for (const event of led.decision.events) {
        if (event.type !== 'review.decided') continue;
        const { approved_value, approved_digest, decision } = event.body;
        expect(approved_digest).toBe(approved_value === null ? null : digest(approved_value));
        expect(approved_value !== null).toBe(decision === 'approved' || decision === 'edited');
        if (decision === 'approved') expect(approved_digest).toBe((before.state as RequestedReview).payload_digest);
      }
    });
  });

  it('is decided or ended once: nothing changes an outcome but what becomes of it', () => {
    stories((before, _command, led) => {
      if (!('outcome' in before.state)) return;
      const strip = (state: ReviewState) => {
        const { redemption: _r, executions: _e, ...outcome } = (state as { outcome: object }).outcome as Record<string, unknown>;
        return outcome;
      };
      expect(strip(led.next.state)).toEqual(strip(before.state));
    });
  });

  it('is redeemed at most once', () => {
    stories(undefined, (story) => {
      expect(story.events.filter((event) => event.type === 'review.redeemed').length).toBeLessThanOrEqual(1);
    });
  });

  it('records with a refusal what the clock did, and nothing else', () => {
    stories((_before, _command, led) => {
      if (led.refusal) expect(led.decision.events.filter((event) => !ofTheClock(event))).toEqual([]);
    });
  });

  it('records nothing for somebody it does not exist for', () => {
    stories((_before, { actor: who }, led) => {
      if (who?.kind === 'anonymous' || who === stranger || who === foreignAgent) expect(led.decision.events).toEqual([]);
    });
  });

  it('stands for every reader as it is written later', () => {
    stories((before) => {
      const view = settle(before.state, before.now).state;
      expect(before.when((s, now) => elapse('timeout', s, now)).next.state).toEqual(view);
      if (!isOpen(view)) expect(settle(view, before.after(9999).now).state).toEqual(view);
    });
  });
});

/** What may follow in the same command once the clock has settled a review. */
function afterSettling(event: ReviewEvent): boolean {
  return ['review.archived', 'review.redeemed', 'review.executed'].includes(event.type);
}

describe('a story told by software alone', () => {
  it('has no act of a person in it, whatever the scopes', () => {
    const software = () => fc.constantFrom<Actor>(agent, ownedAgent, foreignAgent, { kind: 'anonymous' });
    fc.assert(
      fc.property(beginning(), fc.array(step(software()), { maxLength: 25 }), (begin, steps) => {
        const only = steps.filter(({ command }) => command.actor?.kind !== 'person');
        const story = tell(begin, only, (_before, command, led) => {
          if (HUMAN_COMMANDS.has(command.name)) {
            expect(led.types).toEqual([]);
            expect(['human_actor_required', 'missing_credentials']).toContain(led.code);
          }
        });
        for (const event of story.events) {
          expect(event.body).not.toMatchObject({ decided_by: { kind: 'person' } });
          expect(event.body).not.toMatchObject({ by: { kind: 'person' } });
        }
      }),
      { numRuns: 200 },
    );
  });
});
