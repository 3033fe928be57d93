import { randomBytes } from 'node:crypto';
import { type TestBroker, testBroker } from '@countersign/local-kafka';
import { testDatabase } from '@countersign/testing';
import { afterAll, beforeAll } from '@jest/globals';
import { kafkaArena } from '../contract/arena.js';
import { eventBusContract } from '../contract/contract-suite.js';
import { removeTopics } from './topics.fixture.js';

const run = `contract-${randomBytes(4).toString('hex')}`;
let broker: TestBroker;
let arenas = 0;
beforeAll(async () => {
  broker = await testBroker(process.env.KAFKA_BROKERS);
}, 180_000);
afterAll(async () => {
  if (broker?.from === 'KAFKA_BROKERS') await removeTopics(broker.brokers, run);
  await broker?.stop();
});

eventBusContract('the Kafka adapter', async () =>
  kafkaArena(await testDatabase(), { brokers: broker.brokers, topicPrefix: `${run}.${arenas++}` }),
);
