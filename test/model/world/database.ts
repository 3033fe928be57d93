/** The one database of a simulation: the models of the store and of the bus, and what the handlers of its consumers wrote. */

import { CATEGORY_PREFIXES, validateEvent } from '@countersign/contracts';
import { RowLocks, type Statement } from '@countersign/database/model';
import { BusModel, busStatements } from '@countersign/event-bus/model';
import { MemoryLog } from '@countersign/event-store/model';
import type { ReviewState } from '@countersign/review';
import { dueRowStatements } from '@countersign/timers/model';
import type { World } from './world.js';

/** One event handed to a group's handler, in a transaction that has committed. */
export interface Effect {
  group: string;
  stream: string;
  position: number;
  version: number;
  type: string;
  replay: boolean;
}

export interface Row {
  stream: string;
  version: number;
  state: ReviewState;
}

export class Database {
  readonly log: MemoryLog;
  readonly bus: BusModel;
  readonly locks = new RowLocks();
  readonly statements: Statement[];
  readonly effects: Effect[] = [];
  readonly rows = new Map<string, Row>();
  readonly #listeners = new Set<(channel: string) => void>();

  /** @param checked whether bodies are held against their contracts, which costs as much as all the rest of an append. */
  constructor(world: World, checked: boolean) {
    this.log = new MemoryLog({
      categories: CATEGORY_PREFIXES,
      now: () => world.databaseNow,
      // A type of a newer release is not in our contracts.
      validate: (type, version, body) => {
        if (checked && !type.startsWith('review.from_')) validateEvent(type, version, body);
      },
    });
    this.bus = new BusModel({ wallClock: () => world.wall, notify: (channel) => this.notify(channel) });
    this.statements = [...busStatements(this.bus, this.log), ...dueRowStatements(this.log, () => world.wall), ...this.#handlers()];
  }

  listen(listener: (channel: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  notify(channel: string): void {
    for (const listener of this.#listeners) listener(channel);
  }

  #handlers(): Statement[] {
    return [
      { begins: 'model.rows', run: ([streams]: [string[]]) => streams.flatMap((stream) => this.rows.get(stream) ?? []) },
      {
        begins: 'model.handled',
        run: ([effects, rows]: [Effect[], Row[]], write) => {
          write(() => {
            this.effects.push(...effects);
            for (const row of rows) this.rows.set(row.stream, row);
          });
          return effects.length;
        },
      },
    ];
  }
}
