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
  type FieldType,
  Hold,
  PersonRef,
  Proof,
  REVIEW_STATUSES,
  type ReviewStatus,
  Shown,
  SYSTEM_DECIDERS,
  type SystemDecider,
  SystemRef,
  Timeout,
} from './events/parts.js';
export * from './events/registry.js';
export * from './events/review.js';
export * from './events/template.js';
export * from './identity.js';
export * from './operation.js';
