/** The process `spawnMember` of an arena starts; killed, not ended. A member of Kafka where brokers and a topic prefix are named. */
import { createPool } from '@countersign/database';
import { PostgresEventStore } from '@countersign/event-store';
import { createLogger } from '@countersign/telemetry';
import { KafkaEventBus } from '../kafka/kafka-event-bus.js';
import { StoreEventBus } from '../store/store-event-bus.js';
import { runMember } from './contract-arena.js';

const [connectionString, group, brokers, topicPrefix = ''] = process.argv.slice(2) as [string, string, string?, string?];
const logger = createLogger({ service: 'member', level: 'silent' });
const pool = createPool({ connectionString, role: 'countersign_app', max: 5, applicationName: 'member process' });
const prefixes = { review: 'rev', template: 'tpl' };
const store = new PostgresEventStore({ pool, writer: 'test', categories: prefixes });
const options = { pool, store, connectionString, logger };
const bus =
  brokers === undefined
    ? new StoreEventBus(options)
    : new KafkaEventBus({ ...options, topicPrefix, prefixes, replication: -1, kafka: { brokers: brokers.split(','), clientId: 'member' } });
await runMember(bus, pool, group, 'process');
process.stdout.write('subscribed\n');
