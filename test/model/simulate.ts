/**
 * One schedule: a story of agents, people, a clock and trouble, drawn from a seed, played to its end and judged.
 *
 * Real: the deciders, the policy, `evolve` and the wire form (libs/review), `handle` and what checks a request (libs/event-store), the intake
 * service's way from a request to its append, the bus with its consumers, deliveries, leases, parking, feeds, relay and Kafka's pages
 * (libs/event-bus), the timer loop and how a timer fires (libs/timers, services/monitoring).
 *
 * Modelled: what PostgreSQL answers (libs/<name>/src/model, each held against PostgreSQL by its int spec), Kafka's client and brokers, the
 * connection that listens, time and chance (world/).
 *
 * Left out: HTTP and identities, the appender's batches, hashes, and SQL of the services' own read models.
 */
import { LEE } from './actors/cast.js';
import { poisoned } from './actors/trouble.js';
import type { History } from './history.js';
import type { Fault } from './judge/check.js';
import { judge } from './judge/judge.js';
import { Stage } from './stage.js';
import { PARTS, play } from './story.js';
import { Chance } from './world/chance.js';
import { enter } from './world/outside.js';
import { Stuck, World } from './world/world.js';

const FIRST_DAY = Date.parse('2026-11-30T09:00:00.000Z');
const DAY_MS = 86_400_000;
/** Each schedule has a day of its own, so that ids rise from one to the next (outside.ts). */
const DAYS = 2_000_000;

export interface Outcome {
  seed: number;
  /** What the judge found; empty when all is well. */
  faults: Fault[];
  steps: number;
  events: number;
  /** Codes and kinds of what was answered. */
  said: string[];
  types: string[];
  trace: string[] | null;
}

/** To be called from a turn of the event loop (world.ts). */
export function simulate(seed: number, { traced = false, without = [] }: { traced?: boolean; without?: readonly string[] } = {}): Outcome {
  const chance = new Chance(seed);
  const world = new World(chance, FIRST_DAY + (seed % DAYS) * DAY_MS);
  if (traced) world.trace = [];
  enter(world);
  const history: History = { said: [], clockSetBack: false };
  const calm = chance.yes(0.5);
  const troubles = { poison: poisoned(chance), busy: chance.yes(0.2) ? 0.3 : 0, leaver: LEE.person_id, upgraded: false };
  const stage = new Stage(world, troubles, { lost: calm ? 0 : chance.pick([0, 0.02, 0.08]) }, { calm, kafka: chance.yes(0.35) });
  const faults: Fault[] = [];
  try {
    play(stage, history, chance, new Set(without));
    faults.push(...judge({ stage, history }));
  } catch (error) {
    if (error instanceof Stuck)
      faults.push({ check: 'everything comes to an end', what: `${error.message} ${stage.unrest ?? 'Somebody has not come to an end.'}` });
    else faults.push({ check: 'nothing breaks', what: `${(error as Error).stack}` });
  } finally {
    for (const machine of stage.machines) machine.kill();
    enter(null);
  }
  const said = history.said.map(({ op, reply }) => `${op} ${reply.kind === 'refused' ? reply.code : reply.kind}`);
  const { events } = stage.database.log;
  return { seed, faults, steps: world.steps, events: events.length, said, types: events.map(({ type }) => type), trace: world.trace };
}

/** The same fault with as few parts as it takes: each that is not needed is left out. */
export function smallest(outcome: Outcome): { without: string[]; outcome: Outcome } {
  const checks = new Set(outcome.faults.map(({ check }) => check));
  let best = { without: [] as string[], outcome };
  for (const name of PARTS) {
    const without = [...best.without, name];
    const tried = simulate(outcome.seed, { without });
    if (tried.faults.some(({ check }) => checks.has(check))) best = { without, outcome: tried };
  }
  return { ...best, outcome: simulate(outcome.seed, { without: best.without, traced: true }) };
}
