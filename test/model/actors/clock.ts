/** Time that passes in leaps: to the edge of what is due, past it, anywhere; and a clock that is set back a little. */
import type { History } from '../history.js';
import type { Chance } from '../world/chance.js';
import type { Database } from '../world/database.js';
import type { Member } from '../world/machine.js';

const EDGES = [-1, 0, 0, 1, 2, 500];
/** So close that a timer is taken before the clock goes back, and looked at after. */
const TOUCHED = [0, 1, 2];
/** A clock is set back in few schedules: what was shown meanwhile says less then. */
const SET_BACK = 0.15;

export async function clock(member: Member, database: Database, history: History, chance: Chance, moves: number): Promise<void> {
  const { world } = member;
  const turn = (): Promise<void> => new Promise((resolve) => world.step(member, 'the clock moves', resolve));
  const leap = (ms: number): void => {
    world.offset += ms;
    world.trace?.push(`    the clock leaps ${ms} ms to ${new Date(world.databaseNow).toISOString()}`);
  };
  const backwards = chance.yes(SET_BACK);
  const edges = backwards ? TOUCHED : EDGES;
  for (let n = backwards ? -2 : 0; n < moves; n++) {
    await turn();
    const due = [...database.log.timers.values()].map((row) => row.dueAt);
    const edge = chance.yes(0.7) && due.length > 0;
    leap(Math.max(0, edge ? chance.pick(due) + chance.pick(edges) - world.databaseNow : chance.int(chance.yes(0.5) ? 30_000 : 4_000_000)));
    if (!backwards) continue;
    history.clockSetBack = true;
    // Best between the taking of a timer and the look at its review.
    const taken = () => [...database.log.timers.values()].some(({ claimedUntil }) => (claimedUntil ?? 0) > world.wall);
    for (let n = chance.int(150); n > 0 && !taken(); n--) await new Promise<void>((resolve) => void world.alarm(member, 2, resolve));
    leap(-chance.int(1_500));
  }
}
