/** Webhook deliveries as their sender sees them (HRP §1.4, §7.3, §13; decision 11). */
import { choice, message, nullable, ref, type Static, strict, Type } from '../schema.js';
import { ListOf, lenientPage, objectType } from './list.js';
import { count, deliveryId, httpUrl, moment, reviewId, text, timestamp } from './primitives.js';

export const DeliveryStatus = message('DeliveryStatus', choice(['pending', 'delivered', 'failed', 'suppressed']));
export type DeliveryStatus = Static<typeof DeliveryStatus>;

export const DeliveryListQuery = message(
  'DeliveryListQuery',
  Type.Object({
    review_id: Type.Optional(text(255, 1)),
    status: Type.Optional(ref(DeliveryStatus)),
    event_type: Type.Optional(Type.Array(text(100, 1), { maxItems: 50, description: 'Repeatable; any of them.' })),
    from: Type.Optional(moment('Inclusive.')),
    to: Type.Optional(moment('Exclusive.')),
    ...lenientPage(),
  }),
);
export type DeliveryListQuery = Static<typeof DeliveryListQuery>;

/** What is known of the origin a project's deliveries go to. While the circuit is open it is only tried now and then. */
export const EndpointHealth = message(
  'EndpointHealth',
  Type.Object({
    origin: Type.String(),
    circuit: choice(['closed', 'open', 'half_open']),
    consecutive_failures: count(),
    open_until: nullable(timestamp()),
    last_success_at: nullable(timestamp()),
    last_failure_at: nullable(timestamp()),
    last_error: nullable(Type.String()),
  }),
);
export type EndpointHealth = Static<typeof EndpointHealth>;

const delivery = () => ({
  object: objectType('webhook_delivery'),
  id: deliveryId(),
  review_id: nullable(reviewId()),
  event_type: Type.String(),
  url: Type.String(),
  status: ref(DeliveryStatus),
  attempts: count(),
  max_attempts: count(),
  last_attempt_at: nullable(timestamp()),
  next_attempt_at: nullable(timestamp()),
  last_error: nullable(Type.String()),
  delivered_at: nullable(timestamp()),
  created_at: timestamp(),
  endpoint: ref(EndpointHealth),
});

export const Delivery = message('Delivery', Type.Object(delivery()));
export type Delivery = Static<typeof Delivery>;

export const DeliveryList = ListOf('DeliveryList', Delivery);
export type DeliveryList = Static<typeof DeliveryList>;

/** One try. `stage` says how far it came. */
export const DeliveryAttempt = message(
  'DeliveryAttempt',
  Type.Object({
    number: Type.Integer({ minimum: 1 }),
    at: timestamp(),
    stage: choice(['before', 'attempt', 'after'], { description: 'Not sent, no response, or response received.' }),
    outcome: choice(['delivered', 'failed']),
    status_code: nullable(Type.Integer()),
    latency_ms: nullable(count()),
    error: nullable(Type.String()),
    response_preview: nullable(Type.String({ maxLength: 1024 })),
    next_attempt_at: nullable(timestamp()),
  }),
);
export type DeliveryAttempt = Static<typeof DeliveryAttempt>;

export const DeliveryDetail = message(
  'DeliveryDetail',
  Type.Object({
    ...delivery(),
    body: nullable(Type.String({ description: 'The exact bytes sent, as text; null once they are no longer kept.' })),
    attempt_log: Type.Array(ref(DeliveryAttempt)),
  }),
);
export type DeliveryDetail = Static<typeof DeliveryDetail>;

export const DeliveryQueued = message(
  'DeliveryQueued',
  Type.Object({ id: deliveryId(), status: Type.Unsafe<'pending'>({ type: 'string', const: 'pending' }), queued_at: timestamp() }),
);
export type DeliveryQueued = Static<typeof DeliveryQueued>;

/** Which failed deliveries to send again; an empty object means all of the project's. */
export const DeliveryReplay = strict(
  'DeliveryReplay',
  Type.Object({
    ids: Type.Optional(Type.Array(text(64, 1), { minItems: 1, maxItems: 1000, uniqueItems: true })),
    review_id: Type.Optional(text(64, 1)),
    event_type: Type.Optional(Type.Array(text(100, 1), { minItems: 1, maxItems: 50 })),
    from: Type.Optional(moment('Inclusive.')),
    to: Type.Optional(moment('Exclusive.')),
  }),
);
export type DeliveryReplay = Static<typeof DeliveryReplay>;

export const DeliveryReplayed = message('DeliveryReplayed', Type.Object({ queued: count(), queued_at: timestamp() }));
export type DeliveryReplayed = Static<typeof DeliveryReplayed>;

export const WebhookTest = strict('WebhookTest', Type.Object({ url: httpUrl() }));
export type WebhookTest = Static<typeof WebhookTest>;

export const WebhookTestResult = message(
  'WebhookTestResult',
  Type.Object({
    delivery_id: deliveryId(),
    status: choice(['delivered', 'failed']),
    status_code: nullable(Type.Integer()),
    latency_ms: nullable(count()),
    error: nullable(Type.String({ description: 'To API keys only the status, or that no response came.' })),
  }),
);
export type WebhookTestResult = Static<typeof WebhookTestResult>;
