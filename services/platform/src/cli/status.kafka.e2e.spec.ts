import { join } from 'node:path';
import { CATEGORY_PREFIXES } from '@countersign/contracts';
import { APP_ROLE, createPool, type EmbeddedPostgres, startEmbeddedPostgres } from '@countersign/database';
import { KafkaEventBus } from '@countersign/event-bus';
import { newId, PostgresEventStore } from '@countersign/event-store';
import { type LocalKafka, startLocalKafka } from '@countersign/local-kafka';
import { Teardown } from '@countersign/service-host';
import { createLogger } from '@countersign/telemetry';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { scratchFolder, spawnProgram, until } from '../fixture/server-process.js';
import { migrateAll } from '../schema.js';

const scratch = scratchFolder();
const logger = createLogger({ service: 'spec', level: 'silent' });
const teardown = new Teardown();
let database: EmbeddedPostgres;
let kafka: LocalKafka;
beforeAll(async () => {
  teardown.add(() => scratch.remove());
  database = await startEmbeddedPostgres({ dataDir: join(scratch.path, 'postgres') });
  teardown.add(() => database.stop());
  kafka = await startLocalKafka({ dataDir: join(scratch.path, 'kafka') });
  teardown.add(() => kafka.stop());
  await migrateAll(database.url, logger);
}, 180_000);
afterAll(() => teardown.run());

function status(...options: string[]) {
  const env = { DATA_DIR: join(scratch.path, 'data'), DATABASE_URL: database.url };
  return spawnProgram('node', ['services/platform/bin/countersign.js', 'status', ...options], { env }).exited;
}
const told = async () => JSON.parse((await status('--json')).stdout);

it('status tells how far consumers and the relay to Kafka are, also while the brokers are away', async () => {
  expect(await told()).toMatchObject({ relay: null });

  const pool = createPool({ connectionString: database.url, role: APP_ROLE, max: 6 });
  teardown.add(() => pool.end());
  const store = new PostgresEventStore({ pool, writer: 'intake', categories: CATEGORY_PREFIXES });
  teardown.add(() => store.close());
  const bus = new KafkaEventBus({
    ...{ pool, store, connectionString: database.url, logger, topicPrefix: 'status', prefixes: CATEGORY_PREFIXES, replication: -1 },
    kafka: { brokers: [kafka.brokers], clientId: 'spec' },
  });
  teardown.add(() => bus.close());
  await bus.subscribe({ group: 'readers', categories: ['review'], handles: ['review.requested'], leaves: [], async onBatch() {} });
  const append = async (type: string) => {
    const result = await store.append({
      streams: [{ stream: newId('rev'), project: newId('prj'), expectedVersion: 0, events: [{ type, body: {} }] }],
      meta: {},
    });
    return result.status === 'appended' ? result.position : 0;
  };
  expect(await bus.caughtUp('readers', await append('review.requested'), 'all', 30_000)).toBe(true);
  await until('the relay to be told of', async () => (await bus.snapshot()).relay?.behind === 0);
  expect(await told()).toMatchObject({
    consumers: [{ group: 'readers', behind: 0, oldest_ms: 0, parked: 0 }],
    relay: { running: true, position: 1, behind: 0, oldest_ms: 0 },
  });

  await kafka.kill();
  await append('review.requested');
  const last = await append('review.from_the_future');
  const away = await told();
  expect(away).toMatchObject({ events: 3, consumers: [{ group: 'readers', behind: 2 }], relay: { position: 1, behind: 2 } });
  expect(away.relay.oldest_ms).toBeGreaterThan(0);
  expect((await status()).stdout).toMatch(/^Kafka has the events up to 1; 2 wait, the oldest for \d+ ms\.$/m);

  await kafka.start();
  await until('the rest to be handled', () => bus.caughtUp('readers', last, 'all', 30_000));
  expect(await told()).toMatchObject({ consumers: [{ group: 'readers', behind: 0, parked: 1 }], relay: { position: 3, behind: 0 } });
  expect((await status()).code).toBe(1);
});
