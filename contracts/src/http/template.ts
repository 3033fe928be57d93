/** Templates: the contract between who asks and who decides (HRP §1.3, §3; decisions 8, 10). */
import { FIELD_TYPES, Field } from '../events/parts.js';
import { choice, jsonObject, message, notYet, notYetField, nullable, ref, type Static, strict, Type } from '../schema.js';
import { TemplateAction, TemplateActionInput } from './action.js';
import { ListOf, objectType } from './list.js';
import { count, priority, projectId, seconds, slug, templateId, text, timeoutAction, timestamp } from './primitives.js';

export const FieldType = message('FieldType', choice(FIELD_TYPES));
export type FieldType = Static<typeof FieldType>;

/** One field of the payload as a template publishes it and a review pins it. */
export const TemplateField = message('TemplateField', Type.Object(Field.properties));
export type TemplateField = Static<typeof TemplateField>;

/** A field as an author writes it. */
export const TemplateFieldInput = strict(
  'TemplateFieldInput',
  Type.Object({
    ...Type.Omit(Field, ['editable', 'required']).properties,
    readonly: Type.Optional(Type.Boolean({ description: 'Opposite of editable; editable takes precedence if both are given.' })),
    editable: Type.Optional(Type.Boolean({ default: false })),
    required: Type.Optional(Type.Boolean({ default: false, description: 'Requests without it are refused (payload_invalid).' })),
  }),
);
export type TemplateFieldInput = Static<typeof TemplateFieldInput>;

export const TemplateStatus = message('TemplateStatus', choice(['draft', 'active', 'inactive']));
export type TemplateStatus = Static<typeof TemplateStatus>;

/** Longest validity of an approval that a template may set: one year. */
const validity = () => Type.Integer({ minimum: 1, maximum: 31_536_000 });
const hours = () => Type.Integer({ minimum: 1, maximum: 8760 });
const iterations = () => Type.Integer({ minimum: 1, maximum: 1000 });
const fields = () => Type.Array(ref(TemplateFieldInput), { maxItems: 100 });
const actions = () => Type.Array(ref(TemplateActionInput), { maxItems: 20 });

export const Template = message(
  'Template',
  Type.Object({
    object: objectType('template'),
    id: templateId(),
    project_id: projectId(),
    slug: Type.String(),
    name: Type.String(),
    description: nullable(Type.String()),
    version: Type.Integer({
      minimum: 0,
      description: 'Number of the published version; 0 before the first. Published versions are immutable.',
    }),
    status: ref(TemplateStatus),
    fields: Type.Array(ref(TemplateField)),
    actions: Type.Array(ref(TemplateAction)),
    default_priority: priority(),
    auto_approve: Type.Boolean(),
    timeout_seconds: nullable(Type.Integer({ minimum: 60 })),
    timeout_action: nullable(timeoutAction()),
    allow_timeout_auto_approve: Type.Boolean({ description: 'Whether requests may set automatic approval on timeout.' }),
    changes_timeout_hours: nullable(Type.Integer({ minimum: 1 })),
    instructions: nullable(Type.String()),
    allow_request_changes: Type.Boolean(),
    allow_notes: Type.Boolean(),
    allow_monitoring: Type.Boolean(),
    enable_review_links: Type.Boolean(),
    default_auth_level: choice(['public', 'email_otp', 'account']),
    default_expiry_seconds: Type.Integer({ minimum: 1, maximum: 2_592_000 }),
    max_iterations: nullable(Type.Integer({ minimum: 1 })),
    approval_valid_seconds: nullable(Type.Integer({ minimum: 1, description: 'How long an approval can be redeemed; null = no limit.' })),
    chain_config: Type.Null(),
    draft_config: nullable(jsonObject()),
    draft_updated_at: nullable(timestamp()),
    created_at: timestamp(),
    updated_at: timestamp(),
  }),
);
export type Template = Static<typeof Template>;

export const TemplateList = ListOf('TemplateList', Template);
export type TemplateList = Static<typeof TemplateList>;

/** What an author may set. Of features that are not served yet only the default is accepted (decision 29): it asks for nothing. */
const settings = () => ({
  description: Type.Optional(nullable(text(2000))),
  default_priority: Type.Optional(priority()),
  auto_approve: Type.Optional(Type.Boolean({ default: false })),
  timeout_seconds: Type.Optional(nullable(seconds())),
  timeout_action: Type.Optional(nullable(timeoutAction())),
  allow_timeout_auto_approve: Type.Optional(Type.Boolean({ default: false })),
  changes_timeout_hours: Type.Optional(nullable(hours())),
  instructions: Type.Optional(nullable(text(10_000))),
  allow_request_changes: Type.Optional(Type.Boolean({ default: true })),
  max_iterations: Type.Optional(nullable(iterations())),
  approval_valid_seconds: Type.Optional(nullable(validity())),
  allow_notes: Type.Optional(notYet(Type.Unsafe<boolean>({ type: 'boolean', const: true, default: true }), Type.Boolean())),
  allow_monitoring: Type.Optional(notYet(Type.Unsafe<false>({ type: 'boolean', const: false, default: false }), Type.Boolean())),
  enable_review_links: Type.Optional(notYet(Type.Unsafe<false>({ type: 'boolean', const: false, default: false }), Type.Boolean())),
  default_auth_level: Type.Optional(notYet(choice(['public'], { default: 'public' }), choice(['email_otp', 'account']))),
  default_expiry_seconds: Type.Optional(
    notYet(Type.Unsafe<86_400>({ type: 'integer', const: 86_400, default: 86_400 }), Type.Integer({ minimum: 1, maximum: 2_592_000 })),
  ),
  chain_config: Type.Optional(notYetField()),
});

export const TemplateCreate = strict(
  'TemplateCreate',
  Type.Object({
    slug: slug(),
    name: text(200, 1),
    fields: fields(),
    actions: Type.Optional(actions()),
    ...settings(),
  }),
);
export type TemplateCreate = Static<typeof TemplateCreate>;

/** A partial change of a published template: makes its next version. The slug stays. */
export const TemplateUpdate = strict(
  'TemplateUpdate',
  Type.Object({
    name: Type.Optional(text(200, 1)),
    fields: Type.Optional(fields()),
    actions: Type.Optional(actions()),
    ...settings(),
  }),
);
export type TemplateUpdate = Static<typeof TemplateUpdate>;

/** A draft is whatever its author has so far; it is checked when it is published. */
export const TemplateDraft = message('TemplateDraft', jsonObject({ maxProperties: 50 }));
export type TemplateDraft = Static<typeof TemplateDraft>;

export const TemplateDeleteQuery = message(
  'TemplateDeleteQuery',
  Type.Object({
    force: Type.Optional(Type.Boolean({ default: false, description: 'Delete even if reviews are still open; those stay open.' })),
  }),
);
export type TemplateDeleteQuery = Static<typeof TemplateDeleteQuery>;

export const TemplateDeletion = message(
  'TemplateDeletion',
  Type.Object({ object: objectType('template'), id: templateId(), deleted: Type.Unsafe<true>({ type: 'boolean', const: true }) }),
);
export type TemplateDeletion = Static<typeof TemplateDeletion>;

const percent = () => nullable(Type.Integer({ minimum: 0, maximum: 100 }));

export const TemplateStats = message(
  'TemplateStats',
  Type.Object({
    object: objectType('stats'),
    template_id: templateId(),
    total_reviews: count(),
    human_decided: count(),
    auto_approved: count(),
    vetoed: count(),
    confirmed_human: count(),
    window_elapsed: count(),
    pending_now: count(),
    waiting_now: count(),
    approval_rate: percent(),
    rejection_rate: percent(),
    edit_rate: percent(),
    avg_decision_minutes: nullable(Type.Number({ minimum: 0 })),
  }),
);
export type TemplateStats = Static<typeof TemplateStats>;
