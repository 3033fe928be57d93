import {
  type Actor,
  IdParams,
  type PersonActor,
  type Template,
  TemplateCreate,
  TemplateDeleteQuery,
  TemplateDraft,
  TemplateUpdate,
} from '@countersign/contracts';
import {
  type CallerIdentity,
  contract,
  Identity,
  listBody,
  Problem,
  parseSeen,
  problemOf,
  type Reply,
  respond,
  retryAfter,
  SEEN_HEADER,
} from '@countersign/http';
import { Body, Controller, Delete, Get, Headers, Inject, Param, Patch, Post, Put, Query } from '@nestjs/common';
import { DEPS, type IntakeDeps } from '../deps.js';
import { INTAKE_PROJECTION } from '../projection.js';
import { countOpenReviews } from '../projections/open-reviews.js';
import { templatesOf } from '../projections/templates.js';
import { type TemplateState, templateToWire } from './template.js';
import {
  changeDraft,
  createTemplate,
  deleteTemplate,
  discardDraft,
  draftTemplate,
  mayTemplate,
  pauseTemplate,
  publishTemplate,
  resumeTemplate,
  type TemplateDecision,
  updateTemplate,
} from './template-decider.js';
import { beginTemplate, type HandledTemplate, loadTemplate, onTemplate } from './templates.js';

/** How long a list waits for the caller's own last write (K14), in milliseconds. */
const OWN_WRITE_WAIT = 1_000;

/** Templates (HRP §1.3, §3). Every change is a command for one function of the decider. */
@Controller('/api/v1/templates')
export class TemplatesController {
  constructor(@Inject(DEPS) private readonly deps: IntakeDeps) {}

  @Get()
  async list(@Identity() { actor }: CallerIdentity, @Headers(SEEN_HEADER) token: string | undefined) {
    await Promise.all(
      parseSeen(token).map(({ position, bucket }) => this.deps.bus.caughtUp(INTAKE_PROJECTION.name, position, bucket, OWN_WRITE_WAIT)),
    );
    const templates = await templatesOf(this.deps.pool, projectOf(actor));
    const items = templates.filter((state) => mayTemplate(actor, 'read', state) === null).map(wire);
    return listBody(items, { total: items.length, hasMore: false });
  }

  @Post()
  async create(@Identity() caller: CallerIdentity, @Body(contract(TemplateCreate)) body: TemplateCreate) {
    const { actor } = caller;
    const project_id = projectOf(actor);
    const handled = await beginTemplate(this.deps.store, caller, project_id, (template_id, state) =>
      createTemplate({ template_id, project_id, actor, body }, state),
    );
    return answer(handled, 201);
  }

  @Post('draft')
  async draft(@Identity() caller: CallerIdentity, @Body(contract(TemplateDraft)) object: TemplateDraft) {
    const { actor } = caller;
    const project_id = projectOf(actor);
    const handled = await beginTemplate(this.deps.store, caller, project_id, (template_id, state) =>
      draftTemplate({ template_id, project_id, actor, object }, state),
    );
    return answer(handled, 201);
  }

  @Get(':id')
  async get(@Identity() { actor }: CallerIdentity, @Param(contract(IdParams)) { id }: IdParams): Promise<Template> {
    const state = await loadTemplate(this.deps.store, id);
    const refusal = mayTemplate(actor, 'read', state.status === 'deleted' ? { status: 'none' } : state);
    if (refusal) throw problemOf(refusal);
    return wire(state);
  }

  @Put(':id')
  async update(
    @Identity() caller: CallerIdentity,
    @Param(contract(IdParams)) { id }: IdParams,
    @Body(contract(TemplateUpdate)) body: TemplateUpdate,
  ) {
    return answer(await this.#run(caller, id, (state) => updateTemplate({ actor: caller.actor, body }, state)));
  }

  @Patch(':id/draft')
  async changeDraft(
    @Identity() caller: CallerIdentity,
    @Param(contract(IdParams)) { id }: IdParams,
    @Body(contract(TemplateDraft)) object: TemplateDraft,
  ) {
    return answer(await this.#run(caller, id, (state) => changeDraft({ actor: caller.actor, object }, state)));
  }

  @Delete(':id/draft')
  async discardDraft(@Identity() caller: CallerIdentity, @Param(contract(IdParams)) { id }: IdParams) {
    return answer(await this.#run(caller, id, (state) => discardDraft({ actor: caller.actor }, state)));
  }

  @Post(':id/publish')
  async publish(@Identity() caller: CallerIdentity, @Param(contract(IdParams)) { id }: IdParams) {
    return answer(await this.#run(caller, id, (state) => publishTemplate({ actor: caller.actor }, state)));
  }

  @Post(':id/pause')
  async pause(@Identity() caller: CallerIdentity, @Param(contract(IdParams)) { id }: IdParams) {
    return answer(await this.#run(caller, id, (state) => pauseTemplate({ actor: caller.actor }, state)));
  }

  @Post(':id/resume')
  async resume(@Identity() caller: CallerIdentity, @Param(contract(IdParams)) { id }: IdParams) {
    return answer(await this.#run(caller, id, (state) => resumeTemplate({ actor: caller.actor }, state)));
  }

  @Delete(':id')
  async delete(
    @Identity() caller: CallerIdentity,
    @Param(contract(IdParams)) { id }: IdParams,
    @Query(contract(TemplateDeleteQuery)) { force }: TemplateDeleteQuery,
  ) {
    const open_reviews = await this.#openReviews(id, force ?? false);
    const handled = await this.#run(caller, id, (state) =>
      deleteTemplate({ actor: caller.actor, force: force ?? false, open_reviews }, state),
    );
    if (handled.refusal) throw problemOf(handled.refusal, handled);
    return respond({ object: 'template' as const, id, deleted: true as const }, { seen: handled, replayed: handled.events.length === 0 });
  }

  /** Counted once the read model has every review that was requested before; whoever forces it does not have to know. */
  async #openReviews(template: string, forced: boolean): Promise<number> {
    const { position } = await this.deps.store.head();
    const current = await this.deps.bus.caughtUp(INTAKE_PROJECTION.name, position, 'all', OWN_WRITE_WAIT);
    if (!current && !forced) {
      throw new Problem('service_unavailable', 'Open reviews of this template cannot be counted right now. Try again.', {
        headers: retryAfter(1),
      });
    }
    return countOpenReviews(this.deps.pool, template);
  }

  #run(caller: CallerIdentity, id: string, decide: (state: TemplateState) => TemplateDecision): Promise<HandledTemplate> {
    return onTemplate(this.deps.store, caller, id, decide);
  }
}

/** The project the request works in: the key's, or the one the person chose. */
function projectOf(actor: Actor): string {
  if (actor.kind === 'anonymous') throw new Error('The gateway let an anonymous caller through to templates.');
  return (actor as PersonActor).project_id;
}

function wire(state: TemplateState): Template {
  const template = templateToWire(state);
  if (template === null) throw new Error('A template that is none or was deleted has no wire form.');
  return template;
}

function answer(handled: HandledTemplate, status = 200): Reply<Template> {
  if (handled.refusal) throw problemOf(handled.refusal, handled);
  return respond(wire(handled.state), { status, seen: handled, replayed: handled.events.length === 0 });
}
