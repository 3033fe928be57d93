/** The one way commands and questions reach a template's stream. */
import { type ErrorCode, metaOf, type TemplateEvent } from '@countersign/contracts';
import { type EventStore, type Handled, handle, isId, newId } from '@countersign/event-store';
import type { CallerIdentity } from '@countersign/http';
import type { RequestedTemplate } from '@countersign/review';
import { requestedTemplate, type TemplateState, templateFold } from './template.js';
import { slugKey, slugTaken, type TemplateDecision } from './template-decider.js';

export type HandledTemplate = Handled<TemplateState, ErrorCode>;

export async function loadTemplate(store: EventStore, id: string): Promise<TemplateState> {
  if (!isId('tpl', id)) return templateFold.initial();
  const { events } = await store.readStream<TemplateEvent>(id);
  return events.reduce(templateFold.evolve, templateFold.initial());
}

/** By slug, else by id (HRP §1.2a: a slug wins). Null for what another project has. */
export async function findTemplate(store: EventStore, projectId: string, ref: string): Promise<RequestedTemplate | null> {
  const id = (await store.reservation(slugKey(projectId, ref))) ?? ref;
  const template = requestedTemplate(await loadTemplate(store, id));
  return template?.project_id === projectId ? template : null;
}

const onReserved = (key: string) => slugTaken(key.slice(key.lastIndexOf(':') + 1));

/** Begins a template's stream. */
export function beginTemplate(
  store: EventStore,
  caller: CallerIdentity,
  projectId: string,
  decide: (template_id: string, state: TemplateState) => TemplateDecision,
): Promise<HandledTemplate> {
  const stream = newId('tpl');
  return handle<TemplateState, TemplateEvent, ErrorCode>(store, {
    stream,
    project: projectId,
    fold: templateFold,
    fresh: true,
    decide: (state) => decide(stream, state),
    meta: metaOf(caller),
    onReserved,
  });
}

export async function onTemplate(
  store: EventStore,
  caller: CallerIdentity,
  id: string,
  decide: (state: TemplateState) => TemplateDecision,
): Promise<HandledTemplate> {
  if (!isId('tpl', id)) {
    const state = templateFold.initial();
    return { state, version: 0, events: [], refusal: decide(state).refusal, repeated: false, position: 0, now: '' };
  }
  return handle<TemplateState, TemplateEvent, ErrorCode>(store, {
    stream: id,
    fold: templateFold,
    decide,
    meta: metaOf(caller),
    onReserved,
  });
}
