/** The Template: its state, how facts become it, and how it stands on the wire. Published versions are numbered and never change (decision 10). */
import { type ActorRef, TEMPLATE_EVENTS, type Template, type TemplateConfig, type TemplateEvent } from '@countersign/contracts';
import { type Fold, isRedaction, type StoredEvent, UnknownEventError } from '@countersign/event-store';
import type { RequestedTemplate } from '@countersign/review';

export interface TemplateVersion {
  version: number;
  config: TemplateConfig;
  cause: 'created' | 'published' | 'updated';
  published_by: ActorRef;
  published_at: string;
}

export interface TemplateRecord {
  id: string;
  project_id: string;
  slug: string;
  /** Oldest first; never changed, only added to. */
  versions: TemplateVersion[];
  draft: { config: Record<string, unknown>; changed_by: ActorRef; changed_at: string } | null;
  created_at: string;
  updated_at: string;
}

/** Plain JSON. `draft`: never published. `inactive`: paused. */
export type TemplateState = { status: 'none'; erased?: true } | (TemplateRecord & { status: 'draft' | 'active' | 'inactive' | 'deleted' });
export type ExistingTemplate = Extract<TemplateState, TemplateRecord>;

type Stored = StoredEvent<TemplateEvent>;

export function currentVersion(state: TemplateRecord): TemplateVersion | null {
  return state.versions.at(-1) ?? null;
}

function begin(event: Stored): TemplateState {
  const { stream: id, project: project_id, time } = event;
  if (event.type !== 'template.drafted' && event.type !== 'template.published') return { status: 'none' };
  const blank = { id, project_id, slug: event.body.slug, versions: [], draft: null, created_at: time, updated_at: time };
  return event.type === 'template.published'
    ? published({ ...blank, status: 'active' }, event)
    : drafted({ ...blank, status: 'draft' }, event);
}

function drafted(
  state: ExistingTemplate,
  event: Extract<Stored, { type: 'template.drafted' | 'template.draft_changed' }>,
): ExistingTemplate {
  return { ...state, draft: { config: event.body.draft, changed_by: event.body.by, changed_at: event.time } };
}

function published(state: ExistingTemplate, event: Extract<Stored, { type: 'template.published' }>): ExistingTemplate {
  const { version, slug, config, cause, by } = event.body;
  return {
    ...state,
    status: state.status === 'inactive' ? 'inactive' : 'active',
    slug,
    versions: [...state.versions, { version, config, cause, published_by: by, published_at: event.time }],
    draft: cause === 'published' ? null : state.draft,
  };
}

function evolveExisting(state: ExistingTemplate, event: Stored): ExistingTemplate {
  switch (event.type) {
    case 'template.drafted':
      return state;
    case 'template.draft_changed':
      return drafted(state, event);
    case 'template.draft_discarded':
      return { ...state, draft: null };
    case 'template.published':
      return published(state, event);
    case 'template.paused':
      return { ...state, status: 'inactive' };
    case 'template.resumed':
      return { ...state, status: state.versions.length > 0 ? 'active' : 'draft' };
    case 'template.deleted':
      return { ...state, status: 'deleted' };
  }
}

/** Total: any prefix evolves, erased bodies included. @throws {UnknownEventError} */
export function evolve(state: TemplateState, event: Stored): TemplateState {
  if (state.status === 'none' && state.erased) return state;
  if (isRedaction(event)) return { status: 'none', erased: true };
  if (!Object.hasOwn(TEMPLATE_EVENTS, event.type)) throw new UnknownEventError(event);
  if (event.body === null) return state.status === 'none' ? { status: 'none', erased: true } : state;
  if (state.status === 'none') return begin(event);
  if (state.status === 'deleted') return state;
  return { ...evolveExisting(state, event), updated_at: event.time };
}

export const templateFold: Fold<TemplateState, TemplateEvent> = { initial: () => ({ status: 'none' }), evolve };

/** What a request for a review needs to know of the template. Null: for requests it does not exist. */
export function requestedTemplate(state: TemplateState): RequestedTemplate | null {
  if (state.status === 'none' || state.status === 'deleted') return null;
  const { id, project_id, slug, status } = state;
  const current = currentVersion(state);
  return { id, project_id, slug, status, published: current && { version: current.version, config: current.config } };
}

const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

/** Before the first publication fields and actions are empty: nothing of a draft is in force. */
const UNPUBLISHED: Omit<TemplateConfig, 'name'> = {
  description: null,
  instructions: null,
  fields: [],
  actions: [],
  default_priority: 'normal',
  auto_approve: false,
  timeout_seconds: null,
  timeout_action: null,
  allow_timeout_auto_approve: false,
  changes_timeout_hours: null,
  approval_valid_seconds: null,
  allow_request_changes: true,
  allow_notes: true,
  max_iterations: null,
};

/** HRP §3.1; null for a template that is none or was deleted. */
export function templateToWire(state: TemplateState): Template | null {
  if (state.status === 'none' || state.status === 'deleted') return null;
  const { id, project_id, slug, status, draft, created_at, updated_at } = state;
  const current = currentVersion(state);
  const config = current?.config ?? { ...UNPUBLISHED, name: textOf(draft?.config.name) ?? 'Untitled template' };
  return {
    object: 'template',
    id,
    project_id,
    slug,
    status,
    version: current?.version ?? 0,
    ...config,
    allow_monitoring: false,
    enable_review_links: false,
    default_auth_level: 'public',
    default_expiry_seconds: 86_400,
    chain_config: null,
    draft_config: draft?.config ?? null,
    draft_updated_at: draft?.changed_at ?? null,
    created_at,
    updated_at,
  };
}
