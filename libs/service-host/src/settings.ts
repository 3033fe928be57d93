import { declareSettings } from '@countersign/config';

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const;

export const DATABASE_SETTINGS = declareSettings('Database', {
  url: {
    env: 'DATABASE_URL',
    type: 'url',
    schemes: ['postgres', 'postgresql'],
    secret: true,
    meaning: 'PostgreSQL 15 or newer, migrated; its login must be a member of the role countersign_app.',
  },
  pool: { env: 'DATABASE_POOL', type: 'int', default: 12, min: 4, max: 200, meaning: 'Most connections of this process.' },
});

/** What every process that listens is told, all services in one or one alone. @param logLevel its default: a terminal wants less than a log. */
export const listenerSettings = (logLevel: (typeof LOG_LEVELS)[number]) =>
  ({
    host: { env: 'HOST', type: 'string', default: '127.0.0.1', meaning: 'Address to listen on.' },
    port: { env: 'PORT', type: 'int', default: 3100, min: 0, max: 65535, meaning: 'Port to listen on; 0 picks a free port.' },
    logLevel: { env: 'LOG_LEVEL', type: 'enum', values: LOG_LEVELS, default: logLevel, meaning: 'Minimum log level (JSON on stderr).' },
    checkAnswers: {
      env: 'CHECK_ANSWERS',
      type: 'boolean',
      default: false,
      meaning: 'Validate every service response against its contract and answer 500 on a mismatch. For tests and development.',
    },
  }) as const;

/** Shared by every service that hands out links. */
export const INBOX_SETTINGS = declareSettings('Inbox', {
  publicUrl: {
    env: 'PUBLIC_URL',
    type: 'url',
    default: 'http://127.0.0.1:3100',
    meaning: 'Public URL of the inbox, used in invitation links and in webhooks that point to a review.',
  },
});

export const HOST_SETTINGS = declareSettings('Service', {
  ...listenerSettings('info'),
  identityKey: {
    env: 'IDENTITY_KEY',
    type: 'string',
    secret: true,
    pattern: /^[0-9a-f]{64}$/,
    meaning: 'Key services trust each other by: 64 hex digits, the same for all of them.',
  },
  drain: {
    env: 'DRAIN_DELAY',
    type: 'duration',
    default: '2500ms',
    max: '8s',
    meaning: 'How long a process that was told to stop goes on serving while others notice that it is not ready.',
  },
});

const address = (service: string) =>
  ({
    env: `${service.toUpperCase()}_URL`,
    type: 'list',
    optional: true,
    meaning: `Addresses of the ${service} service, such as http://${service}:3100; a host name stands for all its addresses.`,
  }) as const;

export const ADDRESS_SETTINGS = declareSettings('Addresses', {
  intake: address('intake'),
  decisions: address('decisions'),
  directory: address('directory'),
  monitoring: address('monitoring'),
  webhooks: address('webhooks'),
  audit: address('audit'),
});

export const KAFKA_SETTINGS = declareSettings('Kafka', {
  brokers: {
    env: 'KAFKA_BROKERS',
    type: 'list',
    optional: true,
    meaning: 'Brokers, such as kafka-1:9092,kafka-2:9092. Without any, events are read from PostgreSQL.',
  },
  topicPrefix: {
    env: 'KAFKA_TOPIC_PREFIX',
    type: 'string',
    default: 'countersign',
    pattern: /^[A-Za-z0-9._-]{1,100}$/,
    meaning: 'Topics are <prefix>.<category>.v1.',
  },
  replication: {
    env: 'KAFKA_REPLICATION',
    type: 'int',
    default: -1,
    min: -1,
    meaning: 'Copies of each message in topics created here; -1 takes the cluster’s default.',
  },
  tls: { env: 'KAFKA_TLS', type: 'boolean', default: false, meaning: 'Connect to the brokers by TLS.' },
  ca: {
    env: 'KAFKA_CA_FILE',
    type: 'string',
    optional: true,
    meaning: 'PEM file of the authorities that certify the brokers; the system’s when not set.',
  },
  username: { env: 'KAFKA_USERNAME', type: 'string', optional: true, meaning: 'User for SASL; none when not set.' },
  password: { env: 'KAFKA_PASSWORD', type: 'string', optional: true, secret: true, meaning: 'Its password.' },
  mechanism: {
    env: 'KAFKA_SASL_MECHANISM',
    type: 'enum',
    values: ['scram-sha-256', 'scram-sha-512', 'plain'],
    default: 'scram-sha-512',
    meaning: 'SASL mechanism.',
  },
});
