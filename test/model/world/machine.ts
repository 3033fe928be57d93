/** One process: its connections to the database, the bus with its consumers, and the timer loop, all real; and how it dies. */
import { CATEGORY_PREFIXES } from '@countersign/contracts';
import { MemoryPool, type Reach } from '@countersign/database/model';
import { type EventBus, KafkaEventBus, StoreEventBus, type Subscription } from '@countersign/event-bus';
import { EventStoreUnavailableError } from '@countersign/event-store';
import { MemoryEventStore } from '@countersign/event-store/model';
import { fireTimer } from '@countersign/monitoring';
import { TIMERS } from '@countersign/review';
import type { Logger } from '@countersign/telemetry';
import { TimerLoop } from '@countersign/timers';
import type { Broker } from './broker.js';
import type { Database } from './database.js';
import type { Owner, World } from './world.js';

const noop = (): void => {};
export const SILENT = {
  trace: noop,
  debug: noop,
  info: noop,
  warn: noop,
  error: noop,
  fatal: noop,
  child: () => SILENT,
} as unknown as Logger;

export interface Faults {
  /** Share of questions to the database that break off: half of them before anything was done, half after. */
  lost: number;
}

/** Part of the world that asks the database: a process of the product, or of a client that asks it. */
export class Member implements Owner {
  stalledUntil = 0;
  readonly store: MemoryEventStore;

  constructor(
    readonly world: World,
    readonly database: Database,
    readonly name: string,
    readonly skewMs: number,
    readonly faults: Faults,
  ) {
    this.store = new MemoryEventStore(database.log, this.reach);
  }

  readonly reach: Reach = <T>(what: string, work: () => T, free?: () => boolean): Promise<T> =>
    new Promise((resolve, reject) => {
      const go = () => {
        const { chance } = this.world;
        const fault = chance.yes(this.faults.lost) ? (chance.yes(0.5) ? 'before' : 'after') : null;
        try {
          const answer = fault === 'before' ? undefined : work();
          if (fault === null) resolve(answer as T);
          else reject(lost(what));
        } catch (error) {
          reject(error);
        }
      };
      this.world.step(this, what, go, free);
    });
}

/** The appender has tried again for as long as it does; anything else says what `pg` says. */
const lost = (what: string): Error =>
  what === 'append'
    ? new EventStoreUnavailableError('It is unknown whether it was stored.')
    : new Error('Connection terminated unexpectedly');

export class Machine extends Member {
  readonly connections = new Set<{ drop(): void; cut(): void }>();
  readonly #memory: MemoryPool;
  readonly broker: Broker | null;
  readonly #subscriptions: (machine: Machine) => Subscription[];
  #alive = true;
  bus: EventBus | null = null;

  constructor(options: {
    world: World;
    database: Database;
    name: string;
    skewMs: number;
    faults: Faults;
    /** Null: consumers read the store. */
    broker: Broker | null;
    subscriptions: (machine: Machine) => Subscription[];
    exit: (machine: Machine) => void;
  }) {
    const { world, database, name, skewMs, faults } = options;
    super(world, database, name, skewMs, faults);
    this.broker = options.broker;
    this.#subscriptions = options.subscriptions;
    this.#memory = new MemoryPool({ statements: database.statements, locks: database.locks, reach: this.reach });
    this.#boot(options.exit);
  }

  get alive(): boolean {
    return this.#alive;
  }

  /** SIGKILL: nothing it was doing goes on, and what it had not committed never was. */
  kill(): void {
    this.#alive = false;
    this.world.forget(this);
    this.#memory.kill();
    this.broker?.leave(this);
    for (const connection of this.connections) connection.drop();
  }

  cutListener(): void {
    for (const connection of this.connections) connection.cut();
  }

  /** A service that cannot start ends, and is started again. */
  #boot(exit: (machine: Machine) => void): void {
    this.world.step(this, 'boots', () => void this.#start().catch(() => exit(this)));
  }

  async #start(): Promise<void> {
    const { pool } = this.#memory;
    const { store } = this;
    const parts = { pool, store, connectionString: 'postgres://model', logger: SILENT };
    const kafka = { kafka: { brokers: ['model'], clientId: this.name }, topicPrefix: 'model', prefixes: CATEGORY_PREFIXES, replication: 1 };
    const bus = this.broker ? new KafkaEventBus({ ...parts, ...kafka }) : new StoreEventBus(parts);
    this.bus = bus;
    for (const subscription of this.#subscriptions(this)) await bus.subscribe(subscription);
    const loop = new TimerLoop({
      pool,
      categories: { review: CATEGORY_PREFIXES.review },
      kinds: TIMERS,
      onDue: (timer) => fireTimer(store, timer),
      logger: SILENT,
      wake: (listener) => bus.onAppend(listener),
      leaseMs: 2_000,
    });
    loop.start();
  }
}
