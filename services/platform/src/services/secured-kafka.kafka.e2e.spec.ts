import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@countersign/database';
import { type LocalKafka, selfSignedKeyStore, startLocalKafka } from '@countersign/local-kafka';
import { Teardown } from '@countersign/service-host';
import { createLogger } from '@countersign/telemetry';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SpawnedProgram, scratchFolder, until } from '../fixture/server-process.js';
import { migrateAll } from '../schema.js';

const AUDIT = fileURLToPath(new URL('../../../audit/dist/main.js', import.meta.url));
const USER = { KAFKA_USERNAME: 'countersign', KAFKA_PASSWORD: 'open sesame', KAFKA_SASL_MECHANISM: 'scram-sha-256' };

describe('a service with brokers that ask who is there', () => {
  const scratch = scratchFolder();
  const teardown = new Teardown();
  let database: EmbeddedPostgres;
  let kafka: LocalKafka;
  let certificate: string;
  beforeAll(async () => {
    teardown.add(() => scratch.remove());
    database = await startEmbeddedPostgres({ dataDir: join(scratch.path, 'postgres') });
    teardown.add(() => database.stop());
    await migrateAll(database.url, createLogger({ service: 'spec', level: 'silent' }));
    const made = await selfSignedKeyStore(join(scratch.path, 'keys'));
    certificate = made.certificate;
    const security = { keyStore: made.keyStore, users: { [USER.KAFKA_USERNAME]: USER.KAFKA_PASSWORD } };
    kafka = await startLocalKafka({ dataDir: join(scratch.path, 'kafka'), security });
    teardown.add(() => kafka.stop());
  }, 180_000);
  afterAll(() => teardown.run());

  const start = (settings: Record<string, string>): SpawnedProgram => {
    const base = { PATH: process.env.PATH, DATABASE_URL: database.url, IDENTITY_KEY: randomBytes(32).toString('hex'), PORT: '0' };
    const env = { ...base, KAFKA_BROKERS: kafka.brokers, KAFKA_TLS: 'true', KAFKA_CA_FILE: certificate, ...USER, ...settings };
    const program = new SpawnedProgram(spawn(process.execPath, [AUDIT], { env, stdio: ['ignore', 'pipe', 'pipe'] }));
    teardown.add(() => program.stop('SIGKILL'));
    return program;
  };

  it('comes in with the right password', async () => {
    const program = start({ LOG_LEVEL: 'info' });
    await until('the service to publish', () => program.stderr.includes('this process publishes events to Kafka now'));
    expect(program.stderr).not.toContain(USER.KAFKA_PASSWORD);
    expect((await program.stop()).code).toBe(0);
  });

  it.each([
    [
      'a wrong password',
      { KAFKA_PASSWORD: 'open barley' },
      1,
      /^Kafka at \S+ does not accept the user countersign or its password: check /,
    ],
    [
      'no authority it trusts',
      { KAFKA_CA_FILE: '' },
      1,
      /^The certificate of Kafka at \S+ is not trusted \(self-signed certificate\): name /,
    ],
    [
      'authorities that cannot be read',
      { KAFKA_CA_FILE: '/nonexistent/ca.pem' },
      78,
      /^ {2}- KAFKA_CA_FILE \/nonexistent\/ca\.pem cannot be read \(ENOENT\)\.$/,
    ],
  ])('ends with one sentence for %s', async (_, settings, exitCode, sentence) => {
    const { code, stderr } = await start({ LOG_LEVEL: 'silent', ...settings }).exited;
    expect(code).toBe(exitCode);
    const told = stderr
      .trimEnd()
      .split('\n')
      .filter((line) => line !== 'The configuration has a mistake:');
    expect(told).toEqual([expect.stringMatching(sentence)]);
  });
});
