/**
 * Two processes reach for the same review at the same moment, through the commands of the services on one PostgreSQL: one outcome, and whoever
 * lost was told it. What is raced over HTTP is in requests.e2e.spec.ts; together they are ten thousand.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import type { ReviewEvent } from '@countersign/contracts';
import { within } from '@countersign/review/fixture';
import { type TestDatabase, testDatabase } from '@countersign/testing';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Contestant, type Ended, type Move } from './contest.js';
import { Rival } from './rival.js';

jest.setTimeout(600_000);

/** Races at once. */
const ABREAST = 12;
/** Of a kind, how many each side has to win at least: where one always does there was no race. */
const SHARE = 0.02;
const SETTLING = ['review.decided', 'review.expired', 'review.withdrawn'];
const SETTLED = ['review_already_decided', 'review_expired'];

let db: TestDatabase;
let home: Contestant;
let rival: Rival;
beforeAll(async () => {
  db = await testDatabase();
  home = new Contestant(db.ownerUrl);
  rival = await Rival.start(db.ownerUrl);
});
afterAll(async () => {
  await rival.close();
  await home.close();
  await db.close();
});

interface Race {
  n: number;
  review: string;
  /** What the process here did, and the other. */
  ended: [Ended, Ended];
  log: { type: string; time: string }[];
}

const atOnce = async (n: number, make: () => Promise<string>, here: Move, there: Move): Promise<Race> => {
  const review = await make();
  // The way to the other process takes time of its own.
  const head = n % 3 === 0 ? sleep(1) : Promise.resolve();
  const ended = await Promise.all([head.then(() => home.move(review, here)), rival.move(review, there)]);
  const { events } = await home.store.readStream<ReviewEvent>(review);
  return { n, review, ended, log: events.map(({ type, time }) => ({ type, time })) };
};

/** Runs them, a few abreast, and holds each against `judge`, which says who won. */
async function races(count: number, run: (n: number) => Promise<Race>, judge: (race: Race) => 'here' | 'there'): Promise<void> {
  const won = { here: 0, there: 0 };
  let next = 0;
  const lane = async () => {
    while (next < count) won[judge(await run(next++))] += 1;
  };
  await Promise.all(Array.from({ length: ABREAST }, lane));
  expect(won.here + won.there).toBe(count);
  expect(Math.min(won.here, won.there)).toBeGreaterThanOrEqual(count * SHARE);
}

/** One end in the log; one side made it, and the other was refused with it. */
function oneEnd({ ended: [here, there], log }: Race): { winner: Ended; loser: Ended; won: 'here' | 'there' } {
  const ends = log.filter(({ type }) => SETTLING.includes(type));
  expect(ends).toHaveLength(1);
  const makers = [here, there].filter(({ appended }) => appended.some((type) => SETTLING.includes(type)));
  expect(makers).toHaveLength(1);
  const won = makers[0] === here ? 'here' : 'there';
  const [winner, loser] = won === 'here' ? [here, there] : [there, here];
  expect(winner.code).toBeNull();
  return { winner, loser, won };
}

function wasTold(loser: Ended, winner: Ended): void {
  expect(SETTLED).toContain(loser.code);
  expect(loser.told).toEqual(winner.stands);
}

describe('two processes at once', () => {
  it.each([
    ['approve', 'reject', 1_900],
    ['edit', 'approve', 1_900],
  ] as const)('%s against %s: one decides, the other is told what was decided', async (here, there, count) => {
    await races(
      count,
      (n) => atOnce(n, () => home.ask(), here, there),
      (race) => {
        const { winner, loser, won } = oneEnd(race);
        wasTold(loser, winner);
        return won;
      },
    );
  });

  it.each([
    ['auto_approve', 1_250],
    ['auto_reject', 1_250],
  ] as const)(
    'a decision against a window that ends in %s: one of them has it, and the clock dates it at the deadline',
    async (action, count) => {
      /** As many windows end one after the other; each decision comes at about the end of its own. */
      const turn = 50;
      const won = { here: 0, there: 0 };
      for (let round = 0; round < count; round += turn) {
        const reviews: { id: string; deadline: number }[] = [];
        for (let n = 0; n < turn; n++) {
          const id = await home.ask(within(action, 60));
          const { events } = await home.store.readStream<ReviewEvent>(id);
          reviews.push({ id, deadline: Date.parse(events[0]?.time ?? '') + 60_000 });
        }
        const { now } = await home.store.head();
        await db.advanceClock(((reviews[0]?.deadline ?? 0) - Date.parse(now)) / 1000 - 0.03);
        const began = { at: performance.now(), now: Date.parse((await home.store.head()).now) };
        await Promise.all(
          reviews.map(async ({ id, deadline }, n) => {
            // From 9 ms before the end to the end, less what the command takes.
            await sleep(Math.max(0, deadline - began.now - (performance.now() - began.at) - (n % 10)));
            const ended = await Promise.all([home.move(id, 'approve'), rival.move(id, 'clock')]);
            const { events } = await home.store.readStream<ReviewEvent>(id);
            const race: Race = { n, review: id, ended, log: events.map(({ type, time }) => ({ type, time })) };
            const at = new Date(deadline).toISOString();
            const end = race.log.filter(({ type }) => SETTLING.includes(type));
            expect(end).toHaveLength(1);
            const [person, clock] = ended;
            if (person.code === null) {
              expect((end[0]?.time ?? '') < at).toBe(true);
              expect([clock.appended, clock.stands]).toEqual([[], person.stands]);
              won.here += 1;
            } else {
              // Whoever came first wrote it down: the clock, or the person whose command found it over.
              expect([person.code, person.told?.decided_by, person.told?.decided_at]).toEqual([
                'review_already_decided',
                'system:timeout',
                at,
              ]);
              expect(person.told).toEqual(clock.stands);
              won.there += 1;
            }
          }),
        );
      }
      expect(won.here + won.there).toBe(count);
      expect(Math.min(won.here, won.there)).toBeGreaterThanOrEqual(count * SHARE);
    },
  );

  const sentBack = async () => {
    const review = await home.ask();
    const { code } = await home.move(review, 'request_changes');
    expect(code).toBeNull();
    return review;
  };

  it('an answer to a request for changes against its cancellation: one happens, the other is told how the review stands', async () => {
    await races(
      750,
      (n) => atOnce(n, sentBack, 'resubmit', 'cancel_iteration'),
      ({ ended: [answer, cancel], log }) => {
        const types = log.map(({ type }) => type).slice(2);
        const [winner, loser] = answer.code === null ? [answer, cancel] : [cancel, answer];
        expect(types).toEqual([answer.code === null ? 'review.resubmitted' : 'review.iteration_cancelled']);
        expect([winner.code, loser.code]).toEqual([null, answer.code === null ? 'action.status_not_allowed' : 'not_awaiting_changes']);
        expect(loser.told).toEqual(winner.stands);
        return answer.code === null ? 'here' : 'there';
      },
    );
  });

  it('an answer to a request for changes against its withdrawal: withdrawn once, and an answer that came too late is told so', async () => {
    await races(
      750,
      (n) => atOnce(n, sentBack, 'resubmit', 'withdraw'),
      (race) => {
        const [answer, withdrawal] = race.ended;
        const types = race.log.map(({ type }) => type).slice(2);
        expect(withdrawal.appended).toEqual(['review.withdrawn']);
        if (answer.code === null) {
          expect(types).toEqual(['review.resubmitted', 'review.withdrawn']);
          return 'here';
        }
        expect(types).toEqual(['review.withdrawn']);
        wasTold(answer, withdrawal);
        return 'there';
      },
    );
  });
});
