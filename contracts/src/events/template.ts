/**
 * What happened to a template. Published versions are numbered and never change; an update is the next version (decision 10).
 */
import { text } from '../http/primitives.js';
import { choice, message, nullable, type Static, Type } from '../schema.js';
import { Action, ActorRef, Field, jsonPayload, reviewVersion, seconds } from './parts.js';

export const TemplateConfig = Type.Object({
  name: text(200, 1),
  description: nullable(text(10_000)),
  instructions: nullable(text(65_536)),
  fields: Type.Array(Field, { maxItems: 200 }),
  actions: Type.Array(Action, { minItems: 1, maxItems: 50 }),
  default_priority: choice(['low', 'normal', 'high', 'critical']),
  auto_approve: Type.Boolean(),
  timeout_seconds: nullable(seconds()),
  timeout_action: nullable(choice(['auto_approve', 'auto_reject', 'expire'])),
  /** Lets a request ask for `auto_approve` on its own timeout (decision 19). */
  allow_timeout_auto_approve: Type.Boolean(),
  changes_timeout_hours: nullable(Type.Integer({ minimum: 1, maximum: 87_600 })),
  approval_valid_seconds: nullable(seconds()),
  allow_request_changes: Type.Boolean(),
  allow_notes: Type.Boolean(),
  max_iterations: nullable(Type.Integer({ minimum: 1, maximum: 1_000 })),
});
/** What a published version says, normalised: canonical actions, every default written out. */
export type TemplateConfig = Static<typeof TemplateConfig>;

const slug = () => Type.String({ pattern: '^[a-z0-9]+(-[a-z0-9]+)*$', maxLength: 100 });

export const TemplateDrafted = message('template.drafted.v1', Type.Object({ slug: slug(), draft: jsonPayload(), by: ActorRef }));
export type TemplateDrafted = Static<typeof TemplateDrafted>;

export const TemplateDraftChanged = message('template.draft_changed.v1', Type.Object({ draft: jsonPayload(), by: ActorRef }));
export type TemplateDraftChanged = Static<typeof TemplateDraftChanged>;

export const TemplateDraftDiscarded = message('template.draft_discarded.v1', Type.Object({ by: ActorRef }));
export type TemplateDraftDiscarded = Static<typeof TemplateDraftDiscarded>;

export const TemplatePublished = message(
  'template.published.v1',
  Type.Object({
    version: reviewVersion(),
    slug: slug(),
    config: TemplateConfig,
    cause: choice(['created', 'published', 'updated']),
    by: ActorRef,
  }),
);
export type TemplatePublished = Static<typeof TemplatePublished>;

export const TemplatePaused = message('template.paused.v1', Type.Object({ by: ActorRef }));
export type TemplatePaused = Static<typeof TemplatePaused>;

export const TemplateResumed = message('template.resumed.v1', Type.Object({ by: ActorRef }));
export type TemplateResumed = Static<typeof TemplateResumed>;

export const TemplateDeleted = message(
  'template.deleted.v1',
  Type.Object({ by: ActorRef, forced: Type.Boolean(), open_reviews: Type.Integer({ minimum: 0 }) }),
);
export type TemplateDeleted = Static<typeof TemplateDeleted>;

export const TEMPLATE_EVENTS = {
  'template.drafted': { 1: TemplateDrafted },
  'template.draft_changed': { 1: TemplateDraftChanged },
  'template.draft_discarded': { 1: TemplateDraftDiscarded },
  'template.published': { 1: TemplatePublished },
  'template.paused': { 1: TemplatePaused },
  'template.resumed': { 1: TemplateResumed },
  'template.deleted': { 1: TemplateDeleted },
} as const;

type Latest = typeof TEMPLATE_EVENTS;
type TemplateEventType = keyof Latest;
export type TemplateEvent = { [T in TemplateEventType]: { type: T; body: Static<Latest[T][1]> } }[TemplateEventType];
