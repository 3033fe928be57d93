import './request-queue.js';
import type { Logger } from '@countersign/telemetry';
import { Kafka, type KafkaConfig, logLevel, type SASLOptions } from 'kafkajs';

export interface KafkaSettings {
  brokers: string[];
  /** Name of this process at the brokers. */
  clientId: string;
  /** `true` checks the brokers' certificate against the system's authorities; `ca` against these, in PEM. */
  tls?: boolean | { ca: string };
  /** User and password, such as `{ mechanism: 'scram-sha-256', username, password }`. */
  sasl?: SASLOptions;
  /** Longest wait for an answer, in milliseconds; 10 s when omitted. */
  answerMs?: number;
}

const ANSWER_MS = 10_000;
const CONNECT_MS = 3_000;
const LONGEST_RETRY_MS = 1_000;

export function createKafka({ brokers, clientId, tls, sasl, answerMs = ANSWER_MS }: KafkaSettings, logger: Logger): Kafka {
  const ssl: KafkaConfig['ssl'] = typeof tls === 'object' ? { ca: tls.ca } : tls === true;
  return new Kafka({
    brokers,
    clientId,
    ssl,
    // The client writes into what it is given.
    ...(sasl && { sasl: { ...sasl } }),
    connectionTimeout: Math.min(CONNECT_MS, answerMs),
    requestTimeout: answerMs,
    retry: { initialRetryTime: 100, maxRetryTime: LONGEST_RETRY_MS, retries: 5 },
    logLevel: logLevel.WARN,
    // Whoever called is told of a failure, and reports it: the client's own lines are for looking closer.
    logCreator: () => (entry) => logger.debug({ kafka: entry.namespace, ...entry.log }, entry.log.message),
  });
}
