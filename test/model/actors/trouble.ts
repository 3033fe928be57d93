/** What goes wrong, and who puts it right: processes die, stop and come back, connections are cut, brokers go away, groups are paused and moved. */

import type { Stage } from '../stage.js';
import type { Chance } from '../world/chance.js';
import { ALIEN, PROJECTION, REACTOR, type Troubles } from '../world/groups.js';
import type { Member } from '../world/machine.js';

const turn = (member: Member, what: string): Promise<void> => new Promise((resolve) => member.world.step(member, what, resolve));

export async function trouble(stage: Stage, member: Member, chance: Chance, moves: number): Promise<void> {
  for (let n = 0; n < moves; n++) {
    for (let pause = chance.int(12); pause >= 0; pause--) await turn(member, 'waits for trouble');
    const machine = chance.pick(stage.machines);
    const what = chance.pick(['kill', 'kill', 'stop', 'cut', 'brokers', 'start'] as const);
    stage.world.trace?.push(`    trouble: ${what} ${machine.name}`);
    switch (what) {
      case 'kill':
        stage.restart(machine, chance.int(3_000));
        break;
      case 'stop':
        machine.stalledUntil = stage.world.wall + chance.pick([200, 3_000, 9_000]);
        break;
      case 'cut':
        machine.cutListener();
        break;
      case 'brokers':
        if (stage.broker) stage.broker.down = !stage.broker.down;
        break;
      case 'start':
        if (stage.machines.length < 3) stage.start();
        break;
    }
  }
}

/** An operator at the command line: pauses and resumes, replays, lets parked keys go. */
export async function operator(stage: Stage, member: Member, chance: Chance, moves: number): Promise<void> {
  for (let n = 0; n < moves; n++) {
    for (let pause = chance.int(10); pause >= 0; pause--) await turn(member, 'the operator looks');
    const machine = chance.pick(stage.machines.filter(({ alive, bus }) => alive && bus !== null));
    if (!machine?.bus) continue;
    const { bus } = machine;
    const group = chance.pick([PROJECTION, REACTOR]);
    const parked = stage.database.bus.parkedOf(group)[0];
    const what = parked && chance.yes(0.7) ? 'unpark' : chance.pick(['pause', 'resume', 'seek'] as const);
    stage.world.trace?.push(`    operator: ${what} ${group}`);
    // Never past what a cursor has not reached: that would be skipped, as asked.
    const lowest = Math.min(...(stage.database.bus.cursors.get(group) ?? []).map((cursor) => cursor.position));
    const done = {
      pause: () => bus.pause(group),
      resume: () => bus.resume(group),
      seek: () => bus.seek(group, chance.int(Number.isFinite(lowest) ? lowest + 1 : 1)),
      unpark: () => bus.unpark(group, parked?.stream ?? ''),
    }[what]();
    let answered = false;
    const over = () => {
      answered = true;
    };
    void done.then(over, over);
    // The process it was asked of may die, and its answer with it.
    while (!answered && machine.alive) await new Promise<void>((resolve) => void stage.world.alarm(member, 200, resolve));
  }
}

/** A process of a newer release writes what this one does not know. */
export async function newer(member: Member, chance: Chance, pick: () => string): Promise<void> {
  for (let pause = chance.int(30); pause >= 0; pause--) await turn(member, 'a newer release');
  const stream = pick();
  const { project } = member.database.log.readStream(stream);
  if (project === null) return;
  const request = { streams: [{ stream, project, expectedVersion: 'any' as const, events: [{ type: ALIEN, body: {} }] }], meta: {} };
  // Whoever wrote it has troubles of its own; whether it is there, the log tells.
  await Promise.allSettled([member.store.append(request)]);
}

/** Which events the reactor cannot stand. */
export function poisoned(chance: Chance): Troubles['poison'] {
  const types = ['review.decided', 'review.claimed', 'review.changes_requested', 'review.expired'];
  return new Set(chance.yes(0.25) ? [chance.pick(types)] : []);
}
