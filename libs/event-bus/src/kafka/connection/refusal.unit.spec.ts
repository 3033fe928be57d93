import { describe, expect, it } from '@jest/globals';
import { KafkaJSConnectionError, KafkaJSNumberOfRetriesExceeded } from 'kafkajs';
import { suspicionOf } from './refusal.js';

/** As the client gives up: its last failure is the cause. */
const givenUp = (message: string, code: string) => {
  const last = new KafkaJSConnectionError(`Connection error: ${message}`, { broker: 'kafka:9092', code });
  return new KafkaJSNumberOfRetriesExceeded(last, { retryCount: 2, retryTime: 300 });
};
const settings = {
  brokers: ['kafka:9092'],
  clientId: 'spec',
  tls: true,
  sasl: { mechanism: 'plain', username: 'u', password: 'p' },
} as const;

describe('what may be wrong when brokers do not answer', () => {
  it('is TLS where they hang up on its greeting', () => {
    const error = givenUp('Client network socket disconnected before secure TLS connection was established', 'ECONNRESET');
    expect(suspicionOf(error, { ...settings, brokers: [...settings.brokers] })).toBe(
      'Kafka at kafka:9092 closes every connection without an answer: it may not speak TLS (KAFKA_TLS is on).',
    );
  });

  it('is nothing of the settings where nobody is there', () => {
    expect(suspicionOf(givenUp('connect ECONNREFUSED', 'ECONNREFUSED'), { ...settings, brokers: [...settings.brokers] })).toBeNull();
  });
});
