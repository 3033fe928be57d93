/**
 * What became of webhooks: outcomes only. Attempts and the bytes sent are tables of the webhooks service (K1); how long to wait, what to
 * sign and whom to call are not facts.
 */
import { reviewId } from '../http/primitives.js';
import { choice, message, nullable, type Static, Type } from '../schema.js';
import { ActorRef } from './parts.js';

/**
 * Why a delivery was given up. `gone`: the receiver answered 410. `endpoint_unavailable`: it was held back until its time had passed.
 * `review_erased`: its review was erased first, and its bytes with it.
 */
const DEAD_REASONS = ['attempts_exhausted', 'gone', 'endpoint_unavailable', 'review_erased'] as const;

const about = () => ({
  review_id: reviewId(),
  event_type: Type.String({ minLength: 1 }),
});
const outcome = () => ({
  ...about(),
  /** Attempts over its whole life, earlier rounds included. */
  attempts: Type.Integer({ minimum: 0 }),
  /** How often it had been replayed. */
  replays: Type.Integer({ minimum: 0 }),
});

/** The receiver answered with a success. */
export const DeliverySucceeded = message('delivery.succeeded.v1', Type.Object({ ...outcome(), status_code: Type.Integer() }));
export type DeliverySucceeded = Static<typeof DeliverySucceeded>;

/** No further attempt is made unless somebody replays it. */
export const DeliveryDeadLettered = message(
  'delivery.dead_lettered.v1',
  Type.Object({ ...outcome(), reason: choice(DEAD_REASONS), status_code: nullable(Type.Integer()) }),
);
export type DeliveryDeadLettered = Static<typeof DeliveryDeadLettered>;

/** A dead letter was put back in line, with the same id and the same bytes. */
export const DeliveryReplayed = message(
  'delivery.replayed.v1',
  Type.Object({ ...about(), replay: Type.Integer({ minimum: 1 }), by: ActorRef }),
);
export type DeliveryReplayed = Static<typeof DeliveryReplayed>;

/** The same schemas by event type and schema version. */
const DELIVERY_EVENTS = {
  'delivery.succeeded': { 1: DeliverySucceeded },
  'delivery.dead_lettered': { 1: DeliveryDeadLettered },
  'delivery.replayed': { 1: DeliveryReplayed },
} as const;

type Latest = typeof DELIVERY_EVENTS;
type DeliveryEventType = keyof Latest;
/** A delivery event as a decider states it. */
export type DeliveryEvent = { [T in DeliveryEventType]: { type: T; body: Static<Latest[T][1]> } }[DeliveryEventType];
