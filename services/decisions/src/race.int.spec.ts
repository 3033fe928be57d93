/** People, agents and the clock at the same moment (D2, decision 6): one outcome in the log, and whoever lost is told which. */
import type { ErrorBody, PersonActor, ReviewEvent } from '@countersign/contracts';
import type { StoredEvent } from '@countersign/event-store';
import { decidedBy, elapse, onReview, type RequestedReview, reviewFold, withdraw } from '@countersign/review';
import { within } from '@countersign/review/fixture';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { type Server, startServer } from './fixture/server.js';

jest.setTimeout(240_000);

let server: Server;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

type Answer = Awaited<ReturnType<typeof press>>;
const press = (id: string, actor: PersonActor, body: object) => server.call('actOnReview', actor, id, { body });
const SETTLES = ['review.decided', 'review.expired', 'review.withdrawn'];

/** Three people who want three different things, in an order that changes. */
const three = (id: string, round: number): Promise<Answer>[] => {
  const wishes: (() => Promise<Answer>)[] = [
    () => press(id, server.ann, { action_id: 'approve' }),
    () => press(id, server.bob, { action_id: 'reject', feedback: 'No.' }),
    () => press(id, server.chief, { action_id: 'approve', edited_payload: { subject: 'Better' } }),
  ];
  return wishes.map((_, n) => (wishes[(n + round) % 3] as () => Promise<Answer>)());
};

/** The one fact that settled it, and what every loser must have been told of it. */
async function outcome(id: string): Promise<{ fact: StoredEvent<ReviewEvent>; told: NonNullable<ErrorBody['error']['review']> }> {
  const facts = await server.facts(id);
  const settling = facts.filter(({ type }) => SETTLES.includes(type));
  expect(settling).toHaveLength(1);
  const review = facts.reduce(reviewFold.evolve, reviewFold.initial()) as RequestedReview;
  const decided = 'outcome' in review && review.outcome.kind === 'decided' ? review.outcome : null;
  return {
    fact: settling[0] as StoredEvent<ReviewEvent>,
    told: {
      id,
      status: review.status,
      decision: decided?.decision ?? null,
      decided_by: decided && decidedBy(decided),
      decided_at: decided?.decided_at ?? null,
      current_version: 1,
    },
  };
}

const SETTLED = ['review_already_decided', 'review_expired'];

/** Nobody heard anything else than what is in the log. Answers how many were taken. */
async function agree(id: string, answers: Answer[]): Promise<{ taken: number; by: string }> {
  const { fact, told } = await outcome(id);
  const taken = answers.filter(({ status }) => status === 200);
  for (const { body } of taken) {
    const { status, decision, decided_by, decided_at, current_version } = body;
    expect({ id, status, decision, decided_by, decided_at, current_version }).toEqual(told);
  }
  for (const { status, body } of answers.filter((answer) => !taken.includes(answer))) {
    expect([status, SETTLED.includes(body.error?.code ?? ''), body.error?.review]).toEqual([409, true, told]);
  }
  return { taken: taken.length, by: told.decided_by ?? fact.type };
}

describe('two hundred times', () => {
  it('three people decide one review: one of them does', async () => {
    const winners = new Set<string>();
    for (let round = 0; round < 200; round += 10) {
      await Promise.all(
        Array.from({ length: 10 }, async (_, n) => {
          const id = await server.ask();
          const { taken, by } = await agree(id, await Promise.all(three(id, round + n)));
          expect(taken).toBe(1);
          winners.add(by);
        }),
      );
    }
    expect(winners.size).toBeGreaterThan(1);
  });

  it('they and the clock reach for it as its window ends: one of the four has it, and the clock dates it at the deadline', async () => {
    const endings = { people: 0, clock: 0 };
    for (let round = 0; round < 200; round++) {
      const id = await server.ask(within(round % 2 ? 'auto_reject' : 'auto_approve', 60));
      const { expires_at } = await server.shown(id);
      const { now } = await server.store.head();
      // Up to 12 milliseconds before the end, so that either may be first.
      const left = (Date.parse(expires_at ?? '') - Date.parse(now)) / 1000 - 0.012 * Math.random();
      await server.db.advanceClock(left);
      let settled = false;
      const clock = async () => {
        while (!settled) {
          const { events, state } = await onReview(server.others, {
            review_id: id,
            actor: null,
            decide: (before, at) => elapse('timeout', before, at),
          });
          settled = settled || events.length > 0 || 'outcome' in state;
        }
      };
      const [answers] = await Promise.all([Promise.all(three(id, round)).finally(() => new Promise(setImmediate)), clock()]);
      const { taken, by } = await agree(id, answers);
      if (by === 'system:timeout') {
        endings.clock += 1;
        expect([taken, (await outcome(id)).told.decided_at]).toEqual([0, expires_at]);
      } else {
        endings.people += 1;
        expect(taken).toBe(1);
        expect((await outcome(id)).fact.time < (expires_at ?? '')).toBe(true);
      }
    }
    expect(endings.people).toBeGreaterThan(0);
    expect(endings.clock).toBeGreaterThan(0);
  });
});

describe('a hundred times', () => {
  it('somebody decides what the agent withdraws', async () => {
    for (let round = 0; round < 100; round++) {
      const id = await server.ask();
      const taking = onReview(server.others, {
        review_id: id,
        actor: server.agent,
        decide: (state, now) => withdraw({ actor: server.agent }, state, now),
      });
      const [answer, { refusal }] = await Promise.all([press(id, server.ann, { action_id: 'approve' }), taking]);
      const { taken } = await agree(id, [answer]);
      expect(refusal?.code).toBe(taken === 1 ? 'review_already_decided' : undefined);
    }
  });

  it('somebody decides what somebody else claims: decided by the holder, or before there was one', async () => {
    for (let round = 0; round < 100; round++) {
      const id = await server.ask();
      const [decision, claim] = await Promise.all([
        press(id, server.ann, { action_id: 'approve' }),
        server.call('claimReview', server.bob, id),
      ]);
      const [, ...rest] = await server.types(id);
      if (claim.status === 200) {
        expect([rest, decision.code, decision.body.error?.held_by]).toEqual([
          ['review.claimed'],
          'review_already_held',
          'reviewer:bob@example.org',
        ]);
      } else {
        expect([rest, decision.status, claim.code]).toEqual([['review.decided'], 200, 'review_already_decided']);
      }
    }
  });

  it('the same person presses the same thing five times: one decision, and four are its repeats', async () => {
    for (let round = 0; round < 100; round += 10) {
      await Promise.all(
        Array.from({ length: 10 }, async () => {
          const id = await server.ask();
          const answers = await Promise.all(Array.from({ length: 5 }, () => press(id, server.ann, { action_id: 'approve' })));
          expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
          expect(answers.filter(({ headers }) => headers['idempotent-replay'] === 'true')).toHaveLength(4);
          expect(await server.types(id)).toEqual(['review.requested', 'review.decided']);
        }),
      );
    }
  });

  it('many do what can be done by many: nothing is lost, and nobody meets a fault', async () => {
    const id = await server.ask();
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, n) => press(id, n % 2 ? server.ann : server.bob, { action_id: 'escalate', feedback: `No. ${n}` })),
    );
    const done = answers.filter(({ status }) => status === 200);
    expect(answers.every(({ status, headers }) => status === 200 || (status === 503 && headers['retry-after'] === '1'))).toBe(true);
    expect(await server.types(id)).toEqual(['review.requested', ...done.map(() => 'review.action_taken')]);
  });
});
