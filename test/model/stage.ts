/** Where a schedule plays: the database, the brokers where there are any, and the processes that are up. */

import { Broker } from './world/broker.js';
import { Database } from './world/database.js';
import { subscriptionsOf, type Troubles } from './world/groups.js';
import { type Faults, Machine } from './world/machine.js';
import type { World } from './world/world.js';

const HOUR_MS = 3_600_000;
const CHECKED = 0.1;

export class Stage {
  readonly database: Database;
  readonly broker: Broker | null;
  readonly calm: boolean;
  machines: Machine[] = [];
  #started = 0;
  #coming = 0;

  constructor(
    readonly world: World,
    readonly troubles: Troubles,
    readonly faults: Faults,
    /** `calm`: nothing goes wrong. `kafka`: consumers hear of events from the brokers. */
    { calm, kafka }: { calm: boolean; kafka: boolean },
  ) {
    this.calm = calm;
    this.database = new Database(world, world.chance.yes(CHECKED));
    this.broker = kafka ? new Broker() : null;
  }

  /** The clock of a process may be an hour off, and nothing may depend on it. */
  start(): Machine {
    const { world, database, faults, broker } = this;
    const skewMs = world.chance.pick([0, 0, HOUR_MS, -HOUR_MS]);
    const name = `process ${++this.#started}`;
    const exit = (gone: Machine) => this.restart(gone, 100);
    const subscriptions = subscriptionsOf(this.troubles);
    const machine = new Machine({ world, database, name, skewMs, faults, broker, subscriptions, exit });
    this.machines.push(machine);
    return machine;
  }

  restart(machine: Machine, afterMs: number): void {
    if (!machine.alive) return;
    machine.kill();
    this.machines = this.machines.filter((one) => one !== machine);
    this.#coming += 1;
    this.world.alarm(null, afterMs, () => {
      this.#coming -= 1;
      this.start();
    });
    if (this.machines.length === 0) this.start();
  }

  /** All faults end: what is left has to come to its end by itself. */
  heal(): void {
    const { broker, faults, database, world } = this;
    faults.lost = 0;
    Object.assign(this.troubles, { busy: 0 });
    if (broker) broker.down = false;
    for (const machine of this.machines) machine.stalledUntil = Math.min(machine.stalledUntil, world.wall);
    for (const group of database.bus.groups.values()) group.paused = false;
    database.notify('event_bus');
  }

  /** What is not done yet; null when everything is handled or parked, and nothing due that nobody takes. */
  get unrest(): string | null {
    const { log, bus } = this.database;
    if (this.#coming > 0 || bus.cursors.size < 2) return 'a process is still to come';
    for (const row of log.timers.values()) if (row.parked === null && row.dueAt <= log.now()) return `${row.stream} ${row.kind} is due`;
    for (const group of bus.groups.keys())
      for (const row of bus.parkedOf(group)) if (row.releaseRequested) return `${row.stream} is to be let go in ${group}`;
    const newest = new Map<number, number>();
    for (const event of log.events) if (event.category === 'review') newest.set(event.bucket, event.position);
    for (const [group, cursors] of bus.cursors)
      for (const { bucket, position } of cursors)
        if (position < (newest.get(bucket) ?? 0)) return `${group} is at ${position} of ${newest.get(bucket)} in bucket ${bucket}`;
    return null;
  }
}
