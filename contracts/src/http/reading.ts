/** Feedback, stats and the audit log (HRP §1.4, §8, §9, §13; decision 14). */
import { choice, jsonObject, mapOf, message, nullable, ref, type Static, Type } from '../schema.js';
import { ReviewDecision } from './action.js';
import { ListOf, lenientPage, objectType } from './list.js';
import { count, eventId, moment, projectId, reviewId, text, timestamp } from './primitives.js';

export const FeedbackQuery = message(
  'FeedbackQuery',
  Type.Object({
    template: Type.Optional(text(100, 1, 'Slug.')),
    outcome: Type.Optional(choice(['approved', 'rejected', 'edited', 'max_iterations_reached', 'confirmed', 'vetoed'])),
    ...lenientPage(),
  }),
);
export type FeedbackQuery = Static<typeof FeedbackQuery>;

export const FeedbackItem = message(
  'FeedbackItem',
  Type.Object({
    object: objectType('feedback'),
    review_id: reviewId(),
    template: Type.String(),
    decision: ref(ReviewDecision),
    original_payload: jsonObject({ description: 'Payload of the decided version.' }),
    suggested_value: Type.Optional(jsonObject()),
    approved_value: Type.Optional(jsonObject()),
    edited_payload: Type.Optional(jsonObject()),
    was_edited: Type.Optional(Type.Unsafe<true>({ type: 'boolean', const: true })),
    feedback: Type.Optional(Type.String()),
    decided_at: timestamp(),
  }),
);
export type FeedbackItem = Static<typeof FeedbackItem>;

export const FeedbackList = ListOf('FeedbackList', FeedbackItem);
export type FeedbackList = Static<typeof FeedbackList>;

export const Stats = message(
  'Stats',
  Type.Object({
    object: objectType('stats'),
    total: count(),
    by_status: mapOf(count()),
    by_decision: mapOf(count()),
    avg_review_time_ms: nullable(count('Counts decisions by people only.')),
    by_template: Type.Array(Type.Object({ template_slug: Type.String(), count: count() })),
    reviews_per_day: Type.Array(Type.Object({ date: Type.String({ format: 'date' }), count: count() }), {
      description: 'The last 30 days in UTC, including days without reviews.',
    }),
  }),
);
export type Stats = Static<typeof Stats>;

export const AuditQuery = message(
  'AuditQuery',
  Type.Object({
    action: Type.Optional(Type.Array(text(100, 1), { maxItems: 50, description: 'Repeatable; any of them.' })),
    resource_type: Type.Optional(text(50, 1)),
    resource_id: Type.Optional(text(255, 1)),
    actor: Type.Optional(text(255, 1)),
    from: Type.Optional(moment('Inclusive.')),
    to: Type.Optional(moment('Exclusive.')),
    project_id: Type.Optional(text(64, 1, 'Ignored; accepted for HRP clients. The credential determines the project.')),
    ...lenientPage(),
  }),
);
export type AuditQuery = Static<typeof AuditQuery>;

/** One row of the audit log: an event as its readers see it, with the hashes that chain it. */
export const AuditEvent = message(
  'AuditEvent',
  Type.Object({
    object: objectType('audit_event'),
    id: eventId(),
    position: Type.Integer({ minimum: 1 }),
    action: Type.String({ description: 'Type of the event, such as review.decided.' }),
    actor: Type.String({ description: '<kind>:<id>' }),
    resource_type: Type.String(),
    resource_id: nullable(Type.String()),
    details: jsonObject(),
    redacted: Type.Boolean({ description: 'The details were erased; the hashes still hold.' }),
    signature: Type.String({ pattern: '^[0-9a-f]{64}$', description: 'Hash of this event.' }),
    prev_signature: nullable(
      Type.String({ pattern: '^[0-9a-f]{64}$', description: 'Hash of the event before it in its stream; null on the first.' }),
    ),
    signature_version: Type.Integer({ minimum: 1 }),
    project_id: nullable(projectId('Null: of the installation, about a person of the project.')),
    created_at: timestamp(),
  }),
);
export type AuditEvent = Static<typeof AuditEvent>;

export const AuditList = ListOf('AuditList', AuditEvent);
export type AuditList = Static<typeof AuditList>;

const position = () => Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });

export const AuditVerifyQuery = message(
  'AuditVerifyQuery',
  Type.Object({ from: Type.Optional(position()), to: Type.Optional(position()) }),
);
export type AuditVerifyQuery = Static<typeof AuditVerifyQuery>;

export const AuditVerification = message(
  'AuditVerification',
  Type.Object({
    object: objectType('audit_verification'),
    valid: Type.Boolean(),
    verified_from: count(),
    verified_to: count(),
    events: count(),
    redacted: count(),
    first_bad: nullable(Type.Object({ position: Type.Integer(), stream: nullable(Type.String()), reason: Type.String() })),
  }),
);
export type AuditVerification = Static<typeof AuditVerification>;

export const AuditExportQuery = message(
  'AuditExportQuery',
  Type.Object({
    from: Type.Optional(position()),
    to: Type.Optional(position()),
    action: Type.Optional(Type.Array(text(100, 1), { maxItems: 50 })),
    resource_type: Type.Optional(text(50, 1)),
    resource_id: Type.Optional(text(255, 1)),
  }),
);
export type AuditExportQuery = Static<typeof AuditExportQuery>;
