/**
 * Parts that several review and template events are made of. They are embedded, not referred to: a stored event is read against one schema.
 */
import { digest, keyId, personId, sessionId, text } from '../http/primitives.js';
import { choice, nullable, type Static, Type } from '../schema.js';

/** HRP §3.2 with `required` (decision 8). */
export const FIELD_TYPES = ['text', 'markdown', 'json', 'image', 'video', 'number', 'boolean', 'select', 'buttons', 'date', 'url'] as const;
export type FieldType = (typeof FIELD_TYPES)[number];

/** Statuses a review can be in, those of features to come included: an action may already name them. */
export const REVIEW_STATUSES = [
  'pending',
  'awaiting_iteration',
  'awaiting_external',
  'monitoring',
  'decided',
  'expired',
  'archived',
] as const;
export type ReviewStatus = (typeof REVIEW_STATUSES)[number];

export const ACTION_KINDS = ['decision', 'iteration', 'side_effect'] as const;
export const DECISION_VALUES = ['approved', 'rejected'] as const;
/** Decisions this version writes; readers tolerate others (HRP §2.3). */
export const DECISIONS = ['approved', 'rejected', 'edited', 'max_iterations_reached'] as const;
export type DecisionName = (typeof DECISIONS)[number];

export const AUTH_METHODS = ['password', 'passkey', 'sign_in_link', 'recovery_link'] as const;

/** What decides in place of a person, by its name on the wire. Never a person's (decision 19). */
const SYSTEM_DECIDERS = ['system:timeout', 'system:max_iterations', 'system/auto-approve'] as const;

export const jsonPayload = () => Type.Unsafe<Record<string, unknown>>({ type: 'object' });
export const seconds = () => Type.Integer({ minimum: 0, maximum: 315_360_000 });
export const reviewVersion = () => Type.Integer({ minimum: 1 });

export const Field = Type.Object({
  name: Type.String({ pattern: '^[a-z0-9_]+$', maxLength: 64 }),
  type: choice(FIELD_TYPES),
  label: text(200, 1),
  editable: Type.Boolean(),
  required: Type.Boolean(),
  options: Type.Optional(Type.Array(text(200, 1), { minItems: 1, maxItems: 200, uniqueItems: true })),
});
/** A field as a template publishes it and a review pins it. */
export type Field = Static<typeof Field>;

export const Action = Type.Object({
  id: Type.String({ pattern: '^[a-z0-9_]+$', maxLength: 64 }),
  label: text(200, 1),
  description: Type.Optional(text(500)),
  kind: choice(ACTION_KINDS),
  decision_value: Type.Optional(choice(DECISION_VALUES)),
  webhook_event: Type.Optional(Type.String({ pattern: '^[a-z0-9_.]+$', maxLength: 100 })),
  requires_feedback: Type.Optional(Type.Boolean()),
  confirmation: Type.Optional(Type.Boolean()),
  style: Type.Optional(choice(['primary', 'destructive', 'secondary', 'warning'])),
  icon: Type.Optional(text(64, 1)),
  order: Type.Optional(Type.Integer()),
  enabled_for_status: Type.Optional(Type.Array(choice(REVIEW_STATUSES), { minItems: 1, uniqueItems: true })),
  expose_to_recipient: Type.Optional(Type.Boolean()),
});
/** An action in its canonical shape (HRP §2.4). */
export type Action = Static<typeof Action>;

export const ActionTaken = Type.Object({ id: Type.String({ minLength: 1 }), label: Type.String(), kind: choice(ACTION_KINDS) });
export type ActionTaken = Static<typeof ActionTaken>;

export const PersonRef = Type.Object({ kind: Type.Literal('person'), id: personId(), email: Type.String({ minLength: 1 }) });
/** A person as they were when they acted. */
export type PersonRef = Static<typeof PersonRef>;

export const AgentRef = Type.Object({ kind: Type.Literal('agent'), key_id: keyId(), key_prefix: Type.String({ minLength: 1 }) });
export type AgentRef = Static<typeof AgentRef>;

export const SystemRef = Type.Object({ kind: Type.Literal('system'), id: choice(SYSTEM_DECIDERS) });
export type SystemRef = Static<typeof SystemRef>;

export const ActorRef = Type.Unsafe<PersonRef | AgentRef>({ anyOf: [PersonRef, AgentRef] });
export type ActorRef = PersonRef | AgentRef;

export const Proof = Type.Object({
  method: choice(AUTH_METHODS),
  session_id: sessionId(),
  /** How long before the act the person had proved themselves; a duration, as bodies hold no wall time (K8). */
  authenticated_seconds_ago: Type.Integer({ minimum: 0 }),
});
/** How the person proved themselves (decision 7). */
export type Proof = Static<typeof Proof>;

export const Shown = Type.Object({
  /** `exact`: the client named the digest it showed. `assumed`: it did not, the version was current (decision 22). */
  basis: choice(['exact', 'assumed']),
  version: reviewVersion(),
  digest: digest('Of the payload the person was shown.'),
});
export type Shown = Static<typeof Shown>;

export const Timeout = Type.Object({ seconds: seconds(), action: choice(['auto_approve', 'auto_reject', 'expire']) });
export type Timeout = Static<typeof Timeout>;

export const Hold = Type.Object({
  /** As on the wire: `reviewer:<email>`, `role:<role>`. */
  ref: Type.String({ minLength: 1 }),
  person_id: nullable(personId()),
});
/** Who holds a review. */
export type Hold = Static<typeof Hold>;
