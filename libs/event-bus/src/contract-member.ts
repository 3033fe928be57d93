/** The process `spawnMember` of the store adapter's arena starts; killed, not ended. */
import { createPool } from '@countersign/database';
import { PostgresEventStore } from '@countersign/event-store';
import { createLogger } from '@countersign/telemetry';
import { runMember } from './contract-arena.js';
import { StoreEventBus } from './store-event-bus.js';

const [connectionString, group] = process.argv.slice(2) as [string, string];
const logger = createLogger({ service: 'member', level: 'silent' });
const pool = createPool({ connectionString, role: 'countersign_app', max: 5, applicationName: 'member process' });
const store = new PostgresEventStore({ pool, writer: 'test', categories: { review: 'rev', template: 'tpl' } });
await runMember(new StoreEventBus({ pool, store, connectionString, logger }), pool, group, 'process');
process.stdout.write('subscribed\n');
