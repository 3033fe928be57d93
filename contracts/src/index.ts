export * from './error-page.js';
export * from './errors.js';
export * from './events/actor-ref.js';
export type { DeliveryEvent } from './events/delivery.js';
export * from './events/directory.js';
export {
  ACTION_KINDS,
  Action,
  ActionTaken,
  ActorRef,
  AgentRef,
  AUTH_METHODS,
  DECISION_VALUES,
  DECISIONS,
  type DecisionName,
  FIELD_TYPES,
  Field,
  Hold,
  PersonRef,
  Proof,
  REVIEW_STATUSES,
  Shown,
  SystemRef,
  Timeout,
} from './events/parts.js';
export * from './events/registry.js';
export * from './events/review.js';
export * from './events/template.js';
export * from './generated.js';
export * from './http/action.js';
export * from './http/auth.js';
export * from './http/delivery.js';
export * from './http/error-body.js';
export * from './http/list.js';
export * from './http/meta.js';
export * from './http/primitives.js';
export * from './http/reading.js';
export * from './http/review.js';
export * from './http/review-requests.js';
export * from './http/settings.js';
export * from './http/template.js';
export * from './identity.js';
export * from './internal.js';
export * from './operation.js';
export * from './operations.js';
export * from './schema.js';
export * from './stream/frames.js';
export * from './topics.js';
export * from './validate.js';
export * from './webhooks/bodies.js';
export * from './webhooks/headers.js';
