import type { Statement } from '@countersign/database/model';
import type { MemoryLog } from '@countersign/event-store/model';
import type { BusModel } from './bus-model.js';
import { groupStatements } from './group-rows.js';
import { parkedStatements } from './parked-rows.js';
import { relayStatements } from './relay-rows.js';

export { BusModel, type Cursor, type ParkedRow, type RelayRow } from './bus-model.js';

/** Everything the bus asks of its database. */
export const busStatements = (bus: BusModel, log: Pick<MemoryLog, 'events' | 'now'>): Statement[] => [
  ...groupStatements(bus),
  ...parkedStatements(bus, log),
  ...relayStatements(bus, log),
];
