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
      meaning: 'Delays between the attempts of a delivery; when they are used up it is a dead letter.',
    },
    jitterPercent: {
      env: 'WEBHOOK_JITTER_PERCENT',
      type: 'int',
      default: 10,
      min: 0,
      max: 100,
      meaning: 'Up to this share of a delay is added to it by chance.',
    },
    retryAfterMax: {
      env: 'WEBHOOK_RETRY_AFTER_MAX',
      type: 'duration',
      default: '12h',
      meaning: 'Longest wait a receiver can ask for with Retry-After.',
    },
    headersTimeout: {
      env: 'WEBHOOK_HEADERS_TIMEOUT',
      type: 'duration',
      default: '10s',
      min: '50ms',
      meaning: "Time a receiver has to answer, from connecting to the end of its response's headers.",
    },
    bodyTimeout: {
      env: 'WEBHOOK_BODY_TIMEOUT',
      type: 'duration',
      default: '30s',
      min: '50ms',
      meaning: "Time for the response's body, which only the log reads.",
    },
    bodyBytes: {
      env: 'WEBHOOK_BODY_BYTES',
      type: 'bytes',
      default: '64kb',
      min: '1kb',
      meaning: 'Most bytes read of a response.',
    },
    lease: {
      env: 'WEBHOOK_LEASE',
      type: 'duration',
      default: '60s',
      meaning: 'After this time without a result an attempt is taken for lost with its process, and the delivery is tried again.',
    },
    concurrency: {
      env: 'WEBHOOK_CONCURRENCY',
      type: 'int',
      default: 256,
      min: 1,
      max: 1_024,
      meaning: 'Attempts one process runs at a time.',
    },
    endpointConcurrency: {
      env: 'WEBHOOK_ENDPOINT_CONCURRENCY',
      type: 'int',
      default: 16,
      min: 1,
      max: 256,
      meaning: 'Attempts all processes together run at a time for one origin of one project.',
    },
    circuitFailures: {
      env: 'WEBHOOK_CIRCUIT_FAILURES',
      type: 'int',
      default: 5,
      min: 1,
      meaning: 'Consecutive failures after which an origin is only tried now and then, for that project.',
    },
    circuitMaxOpen: {
      env: 'WEBHOOK_CIRCUIT_MAX_OPEN',
      type: 'duration',
      default: '5m',
      meaning: 'Longest time between two tries of an origin in trouble.',
    },
    poll: {
      env: 'WEBHOOK_POLL',
      type: 'duration',
      default: '500ms',
      min: '10ms',
      max: '1m',
      meaning: 'How often due deliveries are looked for when nothing announces them.',
    },
    sweep: {
      env: 'WEBHOOK_SWEEP',
      type: 'duration',
      default: '15s',
      min: '10ms',
      meaning: 'How often a process looks for what another left behind: outcomes not recorded, replays not in line.',
    },
    keepBodies: {
      env: 'WEBHOOK_KEEP_BODIES',
      type: 'duration',
      default: '30d',
      meaning: 'How long the bytes of a delivery that arrived are kept for the log; dead letters keep theirs.',
    },
    drain: {
      env: 'WEBHOOK_DRAIN',
      type: 'duration',
      default: '5s',
      meaning: 'Time running attempts have to end when the process stops; then they are broken off and tried again by another.',
    },
  },
  [
    (c) =>
      c.lease >= c.headersTimeout + c.bodyTimeout + LEASE_MARGIN_MS
        ? undefined
        : 'WEBHOOK_LEASE must exceed WEBHOOK_HEADERS_TIMEOUT and WEBHOOK_BODY_TIMEOUT together by 10s, or a slow attempt would be taken for lost and sent twice.',
  ],
);

export type WebhookConfig = ConfigOf<typeof WEBHOOK_SETTINGS.settings>;
