/**
 * Every metric there is, once: code can record no other, and docs/telemetry.md, the dashboard and the alert rules are checked against this.
 *
 * M1 Attributes are bounded by the code: services, groups, kinds, outcomes, routes, priorities. No project, review, key, person or host of a
 *    webhook is an attribute: their number grows with use, and every value is a time series kept for ever. Traces and logs carry those ids.
 * M2 Names are those of the OpenTelemetry semantic conventions where they have one, and begin with `countersign.` where they have none.
 */
export interface MetricDeclaration {
  name: string;
  /** `gauge` is read when it is exported; counters and histograms are fed as things happen. */
  kind: 'counter' | 'histogram' | 'gauge';
  unit: string;
  description: string;
  /** Attribute → its values, in words. */
  attributes: Record<string, string>;
  /** Upper bounds of a histogram's buckets. */
  buckets?: readonly number[];
}

const SERVICE = { 'countersign.service': 'gateway, intake, decisions, directory, monitoring, webhooks or audit' };
const GROUP = { 'countersign.group': 'one of the consumer groups' };
const PRIORITY = { 'countersign.review.priority': 'low, normal, high or critical' };
const OUTCOME = { 'countersign.review.outcome': 'approved, rejected, edited, max_iterations_reached, expired or withdrawn' };
const POOL = { 'db.client.connection.pool.name': 'the pool’s application_name' };

const REQUEST_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
const SHORT_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const LONG_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 5, 15, 60, 300, 900, 3_600, 14_400, 43_200, 86_400];
const HUMAN_SECONDS = [5, 15, 30, 60, 300, 900, 1_800, 3_600, 14_400, 43_200, 86_400, 259_200, 604_800];

export const METRICS = {
  httpRequests: {
    name: 'http.server.request.duration',
    kind: 'histogram',
    unit: 's',
    description: 'Duration of HTTP requests, the gateway’s and those it makes to the services. Event streams are left out.',
    attributes: {
      ...SERVICE,
      'http.request.method': 'the method',
      'http.route': 'the route’s pattern; none where no route matched',
      'http.response.status_code': 'the status',
      'error.type': 'the status again where it is 500 or above',
      'countersign.waited': 'true where the caller asked to wait for a change (`?wait=`)',
    },
    buckets: REQUEST_SECONDS,
  },
  appends: {
    name: 'countersign.append.requests',
    kind: 'counter',
    unit: '{append}',
    description: 'Appends to the event store. `conflict` means that the stream had moved: the command is judged again.',
    attributes: {
      'countersign.writer': 'service that appends',
      'countersign.append.result': 'appended, repeated, conflict, key_reused, reserved, too_late, too_early or error',
    },
  },
  appendDuration: {
    name: 'countersign.append.duration',
    kind: 'histogram',
    unit: 's',
    description: 'Time from an append’s call to its answer, waiting for its batch included.',
    attributes: { 'countersign.writer': 'service that appends' },
    buckets: SHORT_SECONDS,
  },
  batchSize: {
    name: 'countersign.append.batch.size',
    kind: 'histogram',
    unit: '{append}',
    description: 'Appends that went to PostgreSQL together (group commit).',
    attributes: { 'countersign.writer': 'service that appends' },
    buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024, 2_048],
  },
  consumed: {
    name: 'countersign.consumer.events',
    kind: 'counter',
    unit: '{event}',
    description: 'Events given to a group’s handlers, by what came of their batch.',
    attributes: { ...GROUP, 'countersign.outcome': 'handled or failed' },
  },
  consumerBatch: {
    name: 'countersign.consumer.batch.duration',
    kind: 'histogram',
    unit: 's',
    description: 'Time a batch took, its transaction included.',
    attributes: GROUP,
    buckets: SHORT_SECONDS,
  },
  consumerLag: {
    name: 'countersign.consumer.lag',
    kind: 'gauge',
    unit: '{event}',
    description: 'Events a group has not handled yet. Every replica of a service reports the whole group: take the maximum.',
    attributes: GROUP,
  },
  consumerLagAge: {
    name: 'countersign.consumer.lag.age',
    kind: 'gauge',
    unit: 's',
    description: 'Age of the oldest event a group has not handled yet; 0 when there is none.',
    attributes: GROUP,
  },
  parked: {
    name: 'countersign.consumer.parked',
    kind: 'gauge',
    unit: '{key}',
    description: 'Streams of which events wait because one could not be handled.',
    attributes: GROUP,
  },
  busHealthy: {
    name: 'countersign.bus.healthy',
    kind: 'gauge',
    unit: '{bus}',
    description: '1 while new events arrive at this process, 0 while they do not.',
    attributes: {},
  },
  relayPosition: {
    name: 'countersign.relay.position',
    kind: 'gauge',
    unit: '{event}',
    description:
      'Position up to which everything was published to Kafka. Every process on Kafka reports the one there is: take the maximum.',
    attributes: {},
  },
  relayBehind: {
    name: 'countersign.relay.behind',
    kind: 'gauge',
    unit: '{event}',
    description: 'Committed events that were not published to Kafka yet. Every process on Kafka reports all of them: take the maximum.',
    attributes: {},
  },
  relayDelay: {
    name: 'countersign.relay.delay',
    kind: 'histogram',
    unit: 's',
    description: 'Age of events when Kafka had acknowledged them.',
    attributes: {},
    buckets: SHORT_SECONDS,
  },
  timerLateness: {
    name: 'countersign.timer.lateness',
    kind: 'histogram',
    unit: 's',
    description: 'How long after they were due timers were taken up.',
    attributes: { 'countersign.timer.kind': 'what the timer does' },
    buckets: SHORT_SECONDS,
  },
  timersParked: {
    name: 'countersign.timer.parked',
    kind: 'gauge',
    unit: '{timer}',
    description: 'Timers that failed on every attempt and wait to be unparked.',
    attributes: {},
  },
  webhookAttempts: {
    name: 'countersign.webhook.attempts',
    kind: 'counter',
    unit: '{attempt}',
    description: 'Attempts to deliver a webhook, by what follows from them.',
    attributes: { 'countersign.outcome': 'delivered, retry, dead_lettered or postponed' },
  },
  webhookAttemptDuration: {
    name: 'countersign.webhook.attempt.duration',
    kind: 'histogram',
    unit: 's',
    description: 'Time to the head of the receiver’s answer, or to the failure.',
    attributes: { 'countersign.outcome': 'delivered, retry or dead_lettered' },
    buckets: REQUEST_SECONDS,
  },
  webhookAge: {
    name: 'countersign.webhook.delivery.age',
    kind: 'histogram',
    unit: 's',
    description: 'Age of deliveries when they came to an end.',
    attributes: { 'countersign.outcome': 'delivered or dead_lettered' },
    buckets: LONG_SECONDS,
  },
  webhooksPending: {
    name: 'countersign.webhook.pending',
    kind: 'gauge',
    unit: '{delivery}',
    description: 'Deliveries that have not come to an end. Every replica reports all of them: take the maximum.',
    attributes: {},
  },
  webhookOldest: {
    name: 'countersign.webhook.oldest_pending.age',
    kind: 'gauge',
    unit: 's',
    description: 'Age of the oldest delivery that has not come to an end; 0 when there is none.',
    attributes: {},
  },
  reviewsPending: {
    name: 'countersign.review.pending',
    kind: 'gauge',
    unit: '{review}',
    description: 'Reviews that wait for a person. Every replica reports all of them: take the maximum.',
    attributes: PRIORITY,
  },
  oldestPending: {
    name: 'countersign.review.oldest_pending.age',
    kind: 'gauge',
    unit: 's',
    description: 'Age of the oldest review that waits for a person; 0 when there is none.',
    attributes: PRIORITY,
  },
  decisions: {
    name: 'countersign.review.decisions',
    kind: 'counter',
    unit: '{review}',
    description: 'Reviews that were settled.',
    attributes: {
      ...OUTCOME,
      'countersign.actor.kind': 'person, agent or system',
    },
  },
  timeToDecide: {
    name: 'countersign.review.time_to_decide',
    kind: 'histogram',
    unit: 's',
    description: 'Time from a review’s request to its end, rounds of changes included.',
    attributes: { ...OUTCOME, ...PRIORITY },
    buckets: HUMAN_SECONDS,
  },
  streams: {
    name: 'countersign.sse.streams',
    kind: 'gauge',
    unit: '{stream}',
    description: 'Event streams open at this gateway.',
    attributes: {},
  },
  poolConnections: {
    name: 'db.client.connection.count',
    kind: 'gauge',
    unit: '{connection}',
    description: 'Connections of a pool.',
    attributes: { ...POOL, 'db.client.connection.state': 'idle or used' },
  },
  poolMax: {
    name: 'db.client.connection.max',
    kind: 'gauge',
    unit: '{connection}',
    description: 'Most connections a pool may hold.',
    attributes: POOL,
  },
  poolWaiting: {
    name: 'db.client.connection.pending_requests',
    kind: 'gauge',
    unit: '{request}',
    description: 'Requests that wait for a connection of a pool.',
    attributes: POOL,
  },
  eventLoopP50: {
    name: 'nodejs.eventloop.delay.p50',
    kind: 'gauge',
    unit: 's',
    description: 'Median delay of the event loop since the last export.',
    attributes: {},
  },
  eventLoopP99: {
    name: 'nodejs.eventloop.delay.p99',
    kind: 'gauge',
    unit: 's',
    description: '99th percentile of the event loop’s delay since the last export.',
    attributes: {},
  },
  eventLoopMax: {
    name: 'nodejs.eventloop.delay.max',
    kind: 'gauge',
    unit: 's',
    description: 'Longest delay of the event loop since the last export.',
    attributes: {},
  },
} as const satisfies Record<string, MetricDeclaration>;

export type MetricKey = keyof typeof METRICS;
export type MetricOf<Kind extends MetricDeclaration['kind']> = {
  [Key in MetricKey]: (typeof METRICS)[Key]['kind'] extends Kind ? Key : never;
}[MetricKey];
/** The attributes a metric may have, and no others. */
export type AttributesOf<Key extends MetricKey> = { [Name in keyof (typeof METRICS)[Key]['attributes']]?: string | number | boolean };
