/**
 * What may become of a template (HRP §1.3, §3; decision 10).
 *
 * T1. A published version never changes: every change of what is in force is the next version.
 * T2. A version that lets software or the clock approve is put in force by a person: published, updated to, or resumed.
 * T3. A slug belongs to one template of a project: the append reserves it, and gives it back when the template goes.
 */
import {
  type Actor,
  type ActorRef,
  type AgentActor,
  actorRef,
  type ErrorCode,
  type PersonActor,
  ROLE_SCOPES,
  type Scope,
  type TemplateConfig,
  TemplateCreate,
  type TemplateEvent,
  type TemplateUpdate,
  validator,
} from '@countersign/contracts';
import type { Decision } from '@countersign/event-store';
import { equalJson } from '@countersign/evidence';
import { currentVersion, type ExistingTemplate, type TemplateState } from './template.js';
import type { TemplateRefusal } from './template-actions.js';
import { configFrom, letsSoftwareDecide, type TemplateInput } from './template-config.js';
import { draftOf } from './template-sample.js';

export type TemplateDecision = Decision<TemplateEvent, ErrorCode>;

const refused = (refusal: TemplateRefusal): TemplateDecision => ({ events: [], refusal });
const no = (code: ErrorCode, message: string, param?: string): TemplateDecision => refused({ code, message, ...(param && { param }) });
const notFound = (): TemplateRefusal => ({ code: 'template_not_found', message: 'No template with this id in this project.' });
const alreadySo: TemplateDecision = { events: [] };

/** The key under which the append keeps a slug to one template (K5). */
export const slugKey = (projectId: string, slug: string): string => `template_slug:${projectId}:${slug}`;

/** Refusal for a slug another template has. */
export const slugTaken = (slug: string): TemplateRefusal => ({
  code: 'slug_already_exists',
  message: `Another template in this project already uses the slug ${slug}.`,
  param: 'slug',
});

/** Asked after `mayTemplate`, which lets nobody anonymous through. */
const byOf = (actor: Actor): ActorRef => actorRef(actor as AgentActor | PersonActor);

/**
 * Whether this actor may read or write this template, or make one in this project. Another project's does not exist, nor does for a key that is
 * limited to some templates what is not one of them (decision 15); such a key makes no new ones.
 */
export function mayTemplate(actor: Actor, want: 'read' | 'write', subject: TemplateState | { project_id: string }): TemplateRefusal | null {
  const scope: Scope = want === 'read' ? 'templates:read' : 'templates:write';
  if (actor.kind === 'anonymous') return { code: 'missing_credentials', message: 'Sign in, or send an API key.' };
  if (actor.kind === 'agent' && !actor.scopes.includes(scope)) {
    return { code: 'forbidden', message: `The API key lacks the scope ${scope}.` };
  }
  if (!('project_id' in subject)) return notFound();
  const exists = 'id' in subject;
  if (actor.kind === 'agent') {
    if (actor.project_id !== subject.project_id) return notFound();
    if (actor.template_ids === null) return null;
    if (!exists) return { code: 'template_not_allowed', message: 'An API key limited to certain templates cannot create one.' };
    return actor.template_ids.includes(subject.id) ? null : notFound();
  }
  const role = Object.hasOwn(actor.roles, subject.project_id) ? actor.roles[subject.project_id] : undefined;
  if (role === undefined) return notFound();
  return ROLE_SCOPES[role].includes(scope) ? null : { code: 'forbidden', message: `The role ${role} lacks ${scope}.` };
}

function needsPerson(actor: Actor, config: TemplateConfig): TemplateRefusal | null {
  if (actor.kind === 'person' || !letsSoftwareDecide(config)) return null;
  return {
    code: 'human_actor_required',
    message: 'A signed-in person must publish this: it allows approval without review.',
  };
}

/** Permission, then existence, then the rule: the frame of every command on an existing template. */
function onTemplate(actor: Actor, state: TemplateState, rule: (template: ExistingTemplate) => TemplateDecision): TemplateDecision {
  const refusal = mayTemplate(actor, 'write', state);
  if (refusal) return refused(refusal);
  const template = state as ExistingTemplate;
  return template.status === 'deleted' ? refused(notFound()) : rule(template);
}

export interface CreateTemplate {
  template_id: string;
  project_id: string;
  actor: Actor;
  body: TemplateCreate;
}

/** `POST /templates`: the first version, in force at once. */
export function createTemplate(command: CreateTemplate, state: TemplateState): TemplateDecision {
  const { actor, body, project_id } = command;
  const refusal = mayTemplate(actor, 'write', { project_id });
  if (refusal) return refused(refusal);
  if (state.status !== 'none') return alreadySo;
  const { slug, ...input } = body;
  const made = configFrom(input);
  if ('refusal' in made) return refused(made.refusal);
  const person = needsPerson(actor, made.config);
  if (person) return refused(person);
  const event = { version: 1, slug, config: made.config, cause: 'created' as const, by: byOf(actor) };
  return { events: [{ type: 'template.published', body: event }], reserve: [slugKey(project_id, slug)] };
}

export interface DraftTemplate {
  template_id: string;
  project_id: string;
  actor: Actor;
  /** A configuration as far as it goes, or a sample payload. */
  object: Record<string, unknown>;
}

/** `POST /templates/draft`: nothing of it is in force before it is published. */
export function draftTemplate(command: DraftTemplate, state: TemplateState): TemplateDecision {
  const { actor, project_id, template_id, object } = command;
  const refusal = mayTemplate(actor, 'write', { project_id });
  if (refusal) return refused(refusal);
  if (state.status !== 'none') return alreadySo;
  const slug = `draft-${template_id.slice(-8)}`;
  const event = { slug, draft: draftOf(object), by: byOf(actor) };
  return { events: [{ type: 'template.drafted', body: event }], reserve: [slugKey(project_id, slug)] };
}

/** `PATCH /templates/:id/draft`: the draft as a whole. */
export function changeDraft(command: { actor: Actor; object: Record<string, unknown> }, state: TemplateState): TemplateDecision {
  const { actor, object } = command;
  return onTemplate(actor, state, (template) => {
    if (template.draft && equalJson(template.draft.config, object)) return alreadySo;
    return { events: [{ type: 'template.draft_changed', body: { draft: object, by: byOf(actor) } }] };
  });
}

/** `DELETE /templates/:id/draft` */
export function discardDraft(command: { actor: Actor }, state: TemplateState): TemplateDecision {
  return onTemplate(command.actor, state, (template) => {
    if (template.draft === null) return no('no_draft', 'The template has no draft.');
    return { events: [{ type: 'template.draft_discarded', body: { by: byOf(command.actor) } }] };
  });
}

/** A draft is read as a create body would be: the same shape, the same refusals. What it leaves out is as it stands. */
function readDraft(template: ExistingTemplate, draft: Record<string, unknown>): { input: TemplateCreate } | { refusal: TemplateRefusal } {
  const standing = { slug: template.slug, ...currentVersion(template)?.config };
  const result = validator(TemplateCreate, 'exact')({ ...standing, ...draft });
  if (result.ok) return { input: result.value };
  const [first] = result.issues;
  const code = (result.code === 'validation_failed' && DRAFT_CODES[first.path.replace(/\..*/, '')]) || result.code;
  const message = `The draft cannot be published: ${first.path} ${first.message}.`;
  return { refusal: { code, message, param: first.path, details: result.issues } };
}

/** Members whose mistakes have a code of their own (HRP §1.3). */
const DRAFT_CODES: Record<string, ErrorCode | undefined> = { fields: 'invalid_fields', actions: 'invalid_actions' };

/** `POST /templates/:id/publish`: the draft becomes the next version. */
export function publishTemplate(command: { actor: Actor }, state: TemplateState): TemplateDecision {
  const { actor } = command;
  return onTemplate(actor, state, (template) => {
    if (template.draft === null) return no('no_draft', 'The template has no draft.');
    const wanted = template.draft.config.slug;
    if (wanted !== undefined && !isSlug(wanted))
      return no('invalid_slug', 'A slug may contain only lowercase letters, digits and single hyphens.', 'slug');
    if (wanted !== undefined && wanted !== template.slug && actor.kind === 'agent' && actor.template_ids !== null) {
      const message = 'An API key limited to certain templates cannot choose a slug: it would learn which slugs others have.';
      return no('template_not_allowed', message, 'slug');
    }
    if (wanted !== undefined && wanted !== template.slug && template.versions.length > 0) {
      return no('slug_immutable_after_publish', 'The slug of a published template cannot be changed.', 'slug');
    }
    const read = readDraft(template, template.draft.config);
    if ('refusal' in read) return refused(read.refusal);
    const { slug, ...input } = read.input;
    const decision = publish(actor, template, slug, input, 'published');
    const { project_id } = template;
    if (decision.refusal || slug === template.slug) return decision;
    return { ...decision, reserve: [slugKey(project_id, slug)], release: [slugKey(project_id, template.slug)] };
  });
}

const isSlug = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= 100 && /^[a-z0-9]+(-[a-z0-9]+)*$/.test(value);

function publish(
  actor: Actor,
  template: ExistingTemplate,
  slug: string,
  input: TemplateInput,
  cause: 'published' | 'updated',
): TemplateDecision {
  const made = configFrom(input);
  if ('refusal' in made) return refused(made.refusal);
  const current = currentVersion(template);
  if (cause === 'updated' && current && equalJson(current.config, made.config)) return alreadySo;
  const person = needsPerson(actor, made.config);
  if (person) return refused(person);
  const version = (current?.version ?? 0) + 1;
  return { events: [{ type: 'template.published', body: { version, slug, config: made.config, cause, by: byOf(actor) } }] };
}

/** `PUT /templates/:id`: the next version, with some members changed. The slug stays. */
export function updateTemplate(command: { actor: Actor; body: TemplateUpdate }, state: TemplateState): TemplateDecision {
  const { actor, body } = command;
  return onTemplate(actor, state, (template) => {
    const current = currentVersion(template);
    if (current === null) return no('invalid_template_state', 'The template has never been published. Edit and publish its draft.');
    return publish(actor, template, template.slug, { ...current.config, ...body }, 'updated');
  });
}

/** `POST /templates/:id/pause`: no new reviews, from any state. */
export function pauseTemplate(command: { actor: Actor }, state: TemplateState): TemplateDecision {
  return onTemplate(command.actor, state, (template) => {
    if (template.status === 'inactive') return alreadySo;
    return { events: [{ type: 'template.paused', body: { by: byOf(command.actor) } }] };
  });
}

/** `POST /templates/:id/resume` */
export function resumeTemplate(command: { actor: Actor }, state: TemplateState): TemplateDecision {
  const { actor } = command;
  return onTemplate(actor, state, (template) => {
    if (template.status !== 'inactive') return no('invalid_template_state', 'The template is not paused.');
    const current = currentVersion(template);
    const person = current && needsPerson(actor, current.config);
    if (person) return refused(person);
    return { events: [{ type: 'template.resumed', body: { by: byOf(actor) } }] };
  });
}

export interface DeleteTemplate {
  actor: Actor;
  force: boolean;
  /** Reviews of the template that are pending or await changes, counted by the caller. */
  open_reviews: number;
}

/** `DELETE /templates/:id[?force=true]`: open reviews keep what they pinned. */
export function deleteTemplate(command: DeleteTemplate, state: TemplateState): TemplateDecision {
  const { actor, force: forced, open_reviews } = command;
  const refusal = mayTemplate(actor, 'write', state);
  if (refusal) return refused(refusal);
  const template = state as ExistingTemplate;
  if (template.status === 'deleted') return alreadySo;
  if (open_reviews > 0 && !forced) return no('template_has_inflight_reviews', `This template still has ${open_reviews} open reviews.`);
  return {
    events: [{ type: 'template.deleted', body: { by: byOf(actor), forced, open_reviews } }],
    release: [slugKey(template.project_id, template.slug)],
  };
}
