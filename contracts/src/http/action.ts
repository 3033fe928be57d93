/** What a reviewer may press: canonical actions and the three shapes an author may write them in (HRP §2.4, §3.3). */
import { ACTION_KINDS, Action, DECISION_VALUES, DECISIONS, REVIEW_STATUSES } from '../events/parts.js';
import { choice, message, nullable, ref, type Static, strict, Type } from '../schema.js';
import { text } from './primitives.js';

export const ReviewStatus = message('ReviewStatus', choice(REVIEW_STATUSES));
export type ReviewStatus = Static<typeof ReviewStatus>;

/** Decisions HRP names; this server writes those of `DECISIONS`, and readers tolerate others (HRP §2.3). */
const WIRE_DECISIONS = [...DECISIONS, 'retried', 'expired', 'confirmed', 'vetoed'] as const;
export const ReviewDecision = message('ReviewDecision', choice(WIRE_DECISIONS));
export type ReviewDecision = Static<typeof ReviewDecision>;

export const ActionKind = message('ActionKind', choice(ACTION_KINDS));
export type ActionKind = Static<typeof ActionKind>;

const decisionValue = () => choice(DECISION_VALUES);
const style = () => choice(['primary', 'destructive', 'secondary', 'warning']);
const actionId = () => Type.String({ pattern: '^[a-z0-9_]+$', minLength: 1, maxLength: 64 });

/** The canonical form: what a published template and a review hold. Without `enabled_for_status` it is offered while pending. */
export const TemplateAction = message('TemplateAction', Type.Object(Action.properties));
export type TemplateAction = Static<typeof TemplateAction>;

/** An action as an author may write it when it is not a preset's name: canonical with its defaults left out, or `{type, label, value}`. */
export const TemplateActionObject = strict(
  'TemplateActionObject',
  Type.Object(
    {
      id: Type.Optional(actionId()),
      label: Type.Optional(text(120, 1)),
      description: Type.Optional(nullable(text(500))),
      kind: Type.Optional(ref(ActionKind)),
      decision_value: Type.Optional(nullable(decisionValue())),
      webhook_event: Type.Optional(nullable(Type.String({ pattern: '^[a-z0-9_.]+$', maxLength: 100 }))),
      requires_feedback: Type.Optional(Type.Boolean()),
      confirmation: Type.Optional(Type.Boolean()),
      style: Type.Optional(nullable(style())),
      icon: Type.Optional(nullable(text(64, 1))),
      order: Type.Optional(Type.Integer({ minimum: 0, maximum: 1000 })),
      enabled_for_status: Type.Optional(Type.Array(ref(ReviewStatus), { minItems: 1, uniqueItems: true })),
      expose_to_recipient: Type.Optional(Type.Boolean()),
      type: Type.Optional(text(64, 1, 'Of the short form {type, label, value}.')),
      value: Type.Optional(text(64, 1, 'Of the short form {type, label, value}.')),
    },
    { minProperties: 1 },
  ),
);
export type TemplateActionObject = Static<typeof TemplateActionObject>;

/** A preset's name, `{type, label, value}`, or the canonical form. */
export const TemplateActionInput = message(
  'TemplateActionInput',
  Type.Unsafe<string | TemplateActionObject>({
    type: ['string', 'object'],
    if: { type: 'string' },
    // biome-ignore lint/suspicious/noThenProperty: a JSON Schema keyword
    then: { minLength: 1, maxLength: 64 },
    else: { $ref: 'TemplateActionObject' },
  }),
);
export type TemplateActionInput = Static<typeof TemplateActionInput>;
