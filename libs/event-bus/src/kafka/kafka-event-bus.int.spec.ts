import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type LocalKafka, startLocalKafka } from '@countersign/local-kafka';
import { testDatabase } from '@countersign/testing';
import { afterAll, beforeAll, jest } from '@jest/globals';
import { kafkaArena } from '../contract/arena.js';
import { eventBusContract } from '../contract/contract-suite.js';

jest.setTimeout(60_000);

let folder: string;
let kafka: LocalKafka;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'countersign-kafka-'));
  kafka = await startLocalKafka({ dataDir: folder });
}, 180_000);
afterAll(async () => {
  await kafka?.stop();
  await rm(folder, { recursive: true, force: true });
});

eventBusContract('the Kafka adapter', async () =>
  kafkaArena(await testDatabase(), { broker: kafka.brokers, topicPrefix: `t${randomBytes(4).toString('hex')}` }),
);
