import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newId } from '@countersign/event-store';
import { type LocalKafka, selfSignedKeyStore, startLocalKafka } from '@countersign/local-kafka';
import { createLogger, type Logger } from '@countersign/telemetry';
import { testDatabase, until } from '@countersign/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type Arena, type ArenaDatabase, kafkaArena } from '../../contract/arena.js';
import { append, createEffects, effectsOf, recording } from '../../contract/contract-arena.js';
import type { KafkaEventBus } from '../kafka-event-bus.js';
import type { KafkaSettings } from './client.js';

const USER = { mechanism: 'scram-sha-256', username: 'countersign', password: 'open sesame' } as const;

describe('brokers that ask who is there', () => {
  let folder: string;
  let kafka: LocalKafka;
  let ca: string;
  let otherCa: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'countersign-kafka-'));
    const { keyStore, certificate } = await selfSignedKeyStore(join(folder, 'own'));
    const other = await selfSignedKeyStore(join(folder, 'other'));
    ca = await readFile(certificate, 'utf8');
    otherCa = await readFile(other.certificate, 'utf8');
    kafka = await startLocalKafka({ dataDir: join(folder, 'data'), security: { keyStore, users: { [USER.username]: USER.password } } });
  }, 180_000);
  afterAll(async () => {
    await kafka?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  let db: ArenaDatabase;
  let arena: Arena<KafkaEventBus> | undefined;
  beforeEach(async () => {
    db = await testDatabase();
  });
  afterEach(() => (arena ?? db).close());

  const subscribed = async (settings: Omit<Partial<KafkaSettings>, 'brokers'>, options: { logger?: Logger } = {}) => {
    arena = kafkaArena(db, { brokers: [kafka.brokers], topicPrefix: 'secured', settings });
    await createEffects(arena.ownerPool);
    const bus = arena.openBus(options);
    await bus.subscribe(recording('secured'));
    return { ...arena, bus };
  };

  it('are reached by TLS and SCRAM', async () => {
    const { bus, store, pool } = await subscribed({ tls: { ca }, sasl: USER });
    const last = await append(store, newId('rev'), ['review.requested']);
    expect(await bus.caughtUp('secured', last, 'all', 60_000)).toBe(true);
    expect(await effectsOf(pool, 'secured')).toHaveLength(1);
  });

  it('refuse a wrong password, which is told in one sentence', async () => {
    await expect(subscribed({ tls: { ca }, sasl: { ...USER, password: 'open barley' } })).rejects.toThrow(
      `Kafka at ${kafka.brokers} does not accept the user countersign or its password: check KAFKA_USERNAME, KAFKA_PASSWORD and KAFKA_SASL_MECHANISM.`,
    );
  });

  it('refuse a mechanism they do not have, likewise', async () => {
    await expect(subscribed({ tls: { ca }, sasl: { ...USER, mechanism: 'scram-sha-512' } })).rejects.toThrow('check KAFKA_USERNAME');
  });

  it.each([
    ['by TLS', {}, /it may expect TLS \(KAFKA_TLS is off\), or expect a user and password \(KAFKA_USERNAME is not set\)\.$/],
    [
      'with a user',
      { tls: true },
      /it may not speak TLS \(KAFKA_TLS is on\), or expect a user and password \(KAFKA_USERNAME is not set\)\.$/,
    ],
    ['by TLS, for whoever signs in', { sasl: USER }, /it may expect TLS \(KAFKA_TLS is off\)\.$/],
  ])('hang up on who does not come %s, which is told once trying has not helped', async (_, settings, sentence) => {
    const lines: { level: string; msg: string; err?: unknown }[] = [];
    const logger = createLogger({ service: 'spec', destination: { write: (line: string) => void lines.push(JSON.parse(line)) } });
    await subscribed('tls' in settings ? { tls: { ca } } : settings, { logger });
    const told = await until(
      () => lines.find(({ level, msg }) => level === 'warn' && msg.startsWith('Kafka at'))?.msg,
      (line) => line !== undefined,
    );
    expect(told).toMatch(new RegExp(`^Kafka at ${kafka.brokers} closes every connection without an answer: `));
    expect(told).toMatch(sentence);
    expect(lines.filter(({ err }) => err !== undefined)).toEqual([]);
  });

  it('are refused when another authority vouches for them, and when none does', async () => {
    const sentence = /^The certificate of Kafka at \S+ is not trusted \(self-signed certificate\): name the authority/;
    await expect(subscribed({ tls: { ca: otherCa }, sasl: USER })).rejects.toThrow(sentence);
    await arena?.close();
    db = await testDatabase();
    await expect(subscribed({ tls: true, sasl: USER })).rejects.toThrow(sentence);
  });
});
