/**
 * A broker for tests that need one and do nothing to it: what KAFKA_BROKERS names; else a container where Docker answers; else a broker of
 * this machine. Tests that kill it start their own (broker.ts).
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startLocalKafka } from './broker.js';
import { dockerAnswers, startContainer } from './container.js';

export interface TestBroker {
  brokers: string[];
  from: 'KAFKA_BROKERS' | 'a container' | 'this machine';
  stop(): Promise<void>;
}

/** @param named the value of KAFKA_BROKERS. @throws {LocalKafkaError} */
export async function testBroker(named: string | undefined): Promise<TestBroker> {
  if (named) return { brokers: named.split(',').map((one) => one.trim()), from: 'KAFKA_BROKERS', async stop() {} };
  if (await dockerAnswers()) {
    const { brokers, stop } = await startContainer();
    return { brokers: [brokers], from: 'a container', stop };
  }
  const dataDir = await mkdtemp(join(tmpdir(), 'countersign-kafka-'));
  const kafka = await startLocalKafka({ dataDir });
  return {
    brokers: [kafka.brokers],
    from: 'this machine',
    async stop() {
      await kafka.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
