import { type ConfigOf, declareSettings } from '@countersign/config';

/** Kept between the longest attempt and the end of its lease: for the secrets before it and the database after it. */
const LEASE_MARGIN_MS = 10_000;

export const WEBHOOK_SETTINGS = declareSettings(
  'Webhook delivery',
  {
    backoff: {
      env: 'WEBHOOK_BACKOFF',
      type: 'list',
      of: 'duration',
      default: ['5s', '30s', '2m', '10m', '30m', '2h', '6h', '12h'],
      min: 1,
      meaning: 'Delays between delivery attempts. After the last one fails, the delivery is dead-lettered.',
    },
    jitterPercent: {
      env: 'WEBHOOK_JITTER_PERCENT',
      type: 'int',
      default: 10,
      min: 0,
      max: 100,
      meaning: 'Maximum random jitter added to each delay, in percent of the delay.',
    },
    retryAfterMax: {
      env: 'WEBHOOK_RETRY_AFTER_MAX',
      type: 'duration',
      default: '12h',
      meaning: 'Maximum Retry-After honoured from a receiver.',
    },
    headersTimeout: {
      env: 'WEBHOOK_HEADERS_TIMEOUT',
      type: 'duration',
      default: '10s',
      min: '50ms',
      meaning: "Timeout for a receiver's response, from connecting to the end of its headers.",
    },
    bodyTimeout: {
      env: 'WEBHOOK_BODY_TIMEOUT',
      type: 'duration',
      default: '30s',
      min: '50ms',
      meaning: 'Timeout for reading the response body, which is only logged.',
    },
    bodyBytes: {
      env: 'WEBHOOK_BODY_BYTES',
      type: 'bytes',
      default: '64kb',
      min: '1kb',
      meaning: 'Maximum bytes read of a response body.',
    },
    lease: {
      env: 'WEBHOOK_LEASE',
      type: 'duration',
      default: '60s',
      meaning: 'After this time without a result, an attempt is considered lost and the delivery is retried.',
    },
    concurrency: {
      env: 'WEBHOOK_CONCURRENCY',
      type: 'int',
      default: 256,
      min: 1,
      max: 1_024,
      meaning: 'Maximum concurrent attempts per process.',
    },
    endpointConcurrency: {
      env: 'WEBHOOK_ENDPOINT_CONCURRENCY',
      type: 'int',
      default: 16,
      min: 1,
      max: 256,
      meaning: 'Maximum concurrent attempts per project and origin, across all processes.',
    },
    circuitFailures: {
      env: 'WEBHOOK_CIRCUIT_FAILURES',
      type: 'int',
      default: 5,
      min: 1,
      meaning: 'Consecutive failures after which the circuit breaker opens for an origin (per project).',
    },
    circuitMaxOpen: {
      env: 'WEBHOOK_CIRCUIT_MAX_OPEN',
      type: 'duration',
      default: '5m',
      meaning: 'Maximum time between probes of an origin whose circuit breaker is open.',
    },
    poll: {
      env: 'WEBHOOK_POLL',
      type: 'duration',
      default: '500ms',
      min: '10ms',
      max: '1m',
      meaning: 'Polling interval for due deliveries, as a fallback to notifications.',
    },
    sweep: {
      env: 'WEBHOOK_SWEEP',
      type: 'duration',
      default: '15s',
      min: '10ms',
      meaning: 'How often a process picks up work another process left unfinished.',
    },
    keepBodies: {
      env: 'WEBHOOK_KEEP_BODIES',
      type: 'duration',
      default: '30d',
      meaning: 'How long the bodies of successful deliveries are kept. Those of dead letters are kept indefinitely.',
    },
    drain: {
      env: 'WEBHOOK_DRAIN',
      type: 'duration',
      default: '5s',
      meaning: 'Grace period for running attempts at shutdown. Afterwards they are aborted and retried by another process.',
    },
  },
  [
    (c) =>
      c.lease >= c.headersTimeout + c.bodyTimeout + LEASE_MARGIN_MS
        ? undefined
        : 'WEBHOOK_LEASE must exceed the sum of WEBHOOK_HEADERS_TIMEOUT and WEBHOOK_BODY_TIMEOUT by at least 10s; otherwise a slow attempt could be sent twice.',
  ],
);

export type WebhookConfig = ConfigOf<typeof WEBHOOK_SETTINGS.settings>;
