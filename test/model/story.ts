/** Who takes part in a schedule, what each does, and how it ends. */
import { actorRef } from '@countersign/contracts';
import { agent } from './actors/agents.js';
import { AGENT, FOREIGN, OWNED, OWNER, PEOPLE, PROJECT, TEMPLATE, templateOf } from './actors/cast.js';
import { clock } from './actors/clock.js';
import { Desk } from './actors/desk.js';
import { person } from './actors/people.js';
import { slugs } from './actors/slugs.js';
import { newer, operator, trouble } from './actors/trouble.js';
import type { History } from './history.js';
import type { Stage } from './stage.js';
import type { Chance } from './world/chance.js';
import { Member } from './world/machine.js';

const DAY_MS = 86_400_000;
const MOST_STEPS = 6_000;
/** Some have clocks of their own. */
const SKEWS = [0, 3_600_000, -3_600_000];

/** @param without parts that are left out, by name, to see what a fault needs. */
export function play(stage: Stage, history: History, chance: Chance, without: ReadonlySet<string>): void {
  const { world, database } = stage;
  publishTemplate(stage, chance);
  stage.start();
  if (chance.yes(0.4)) stage.start();
  const desk = (name: string) => new Desk(new Member(world, database, name, chance.pick(SKEWS), stage.faults), history);
  const helper = (name: string) => desk(name).member;
  const reviews: string[] = [];
  const pick = () => (reviews.length > 0 ? chance.pick(reviews.slice(0, 2)) : null);
  // Until somebody has asked, people look at what is none.
  const any = () => pick() ?? 'rev_00000000000000000000000000';
  const first = Promise.withResolvers<void>();
  const asked = (review: string) => {
    if (!reviews.includes(review)) reviews.push(review);
    first.resolve();
  };
  const running: Promise<void>[] = [];
  const part = (name: string, share: number, most: number, begin: (moves: number) => Promise<void>) => {
    if (!without.has(name) && chance.yes(share)) running.push(begin(1 + chance.int(most)));
  };
  part('agent', 1, 5, (moves) => agent(desk('agent'), chance, chance.pick([AGENT, OWNED]), pick, asked, moves + 1).finally(first.resolve));
  part('other agent', 0.3, 4, (moves) => agent(desk('other agent'), chance, chance.pick([AGENT, OWNED, FOREIGN]), pick, asked, moves));
  for (const [name, share] of [
    ['person', 1],
    ['second person', 0.67],
    ['third person', 0.33],
  ] as const) {
    part(name, share, 5, (moves) => {
      const actor = chance.pick(PEOPLE);
      const begins = chance.yes(0.9) && running.length > 0 ? first.promise : Promise.resolve();
      return person(desk(actor.name), chance, actor, any, begins, moves);
    });
  }
  part('clock', 0.8, 3, (moves) => clock(helper('clock'), database, history, chance, moves));
  part('trouble', stage.calm ? 0 : 1, 3, (moves) => trouble(stage, helper('trouble'), chance, moves));
  part('operator', 0.3, 3, (moves) => operator(stage, helper('operator'), chance, moves));
  part('newer', 0.06, 1, () => newer(helper('newer'), chance, any));
  part('slugs', 0.1, 1, () => slugs(desk('slugs'), chance));
  let over = false;
  void Promise.all(running).then(() => {
    over = true;
  });
  world.run(() => over, MOST_STEPS);
  end(stage, chance);
}

/** Parts that may be left out. */
export const PARTS = ['other agent', 'second person', 'third person', 'clock', 'trouble', 'operator', 'newer', 'slugs', 'person', 'agent'];

/** What stands open ends: faults first, then what was parked, then every deadline. */
function end(stage: Stage, chance: Chance): void {
  const { world, database, troubles } = stage;
  const settle = () => world.run(() => stage.unrest === null, MOST_STEPS);
  stage.heal();
  world.trace?.push('    faults end');
  settle();
  if (chance.yes(0.5)) {
    troubles.poison.clear();
    if (chance.yes(0.5)) {
      troubles.upgraded = true;
      for (const machine of [...stage.machines]) stage.restart(machine, 50);
      settle();
    }
    for (const group of database.bus.groups.keys()) for (const row of database.bus.parkedOf(group)) row.releaseRequested = true;
    database.notify('event_bus');
    world.trace?.push('    everything parked is let go');
    settle();
  }
  if (chance.yes(0.5)) {
    world.offset += DAY_MS / 4;
    world.trace?.push('    every deadline passes');
    settle();
  }
}

function publishTemplate({ database }: Stage, chance: Chance): void {
  const config = templateOf(chance);
  const body = { version: 1, slug: 'mail', config, cause: 'created', by: actorRef(OWNER) };
  const result = database.log.append({
    streams: [{ stream: TEMPLATE, project: PROJECT, expectedVersion: 0, events: [{ type: 'template.published', body }] }],
    meta: {},
    reserve: [`template_slug:${PROJECT}:mail`],
  });
  if (result.status !== 'appended') throw new Error(`The template was not stored: ${result.status}.`);
}
