import {
  type Actor,
  type AgentActor,
  type PersonActor,
  SCOPES,
  Template,
  type TemplateCreate,
  type TemplateEvent,
  validator,
} from '@countersign/contracts';
import type { StoredEvent } from '@countersign/event-store';
import { given, type Story } from '@countersign/testing';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { evolve, requestedTemplate, type TemplateState, templateFold, templateToWire, UnknownTemplateEventError } from './template.js';
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
  slugKey,
  slugTaken,
  updateTemplate,
} from './template-decider.js';

const id = (prefix: string, n: number): string => `${prefix}_${String(n).padStart(26, '0')}`;
const [PROJECT, OTHER, TEMPLATE] = [id('prj', 1), id('prj', 2), id('tpl', 12_345_678)];

const agent: AgentActor = {
  kind: 'agent',
  key_id: id('key', 1),
  key_prefix: 'gwk_0123abcd',
  name: 'mailer',
  project_id: PROJECT,
  scopes: [...SCOPES],
  template_ids: null,
  owner: null,
  contact: null,
  default_reviewer: null,
  rate_limit_per_hour: null,
};
const chief: PersonActor = {
  kind: 'person',
  person_id: id('per', 1),
  email: 'chief@example.org',
  name: 'Chief',
  project_id: PROJECT,
  roles: { [PROJECT]: 'admin' },
  session_id: id('ses', 1),
  auth: { method: 'password', at: '2026-11-30T08:59:00.000Z' },
};
const reviewer: PersonActor = { ...chief, person_id: id('per', 2), roles: { [PROJECT]: 'reviewer' } };
const stranger: PersonActor = { ...chief, person_id: id('per', 3), roles: { [OTHER]: 'admin' } };
const foreignAgent: AgentActor = { ...agent, project_id: OTHER };

type Told = Story<TemplateState, TemplateEvent>;
const empty = (): Told => given({ fold: templateFold, stream: TEMPLATE, project: PROJECT });

const BODY: TemplateCreate = { slug: 'mail', name: 'Mail', fields: [{ name: 'subject', type: 'text', label: 'Subject', editable: true }] };
const APPROVING: Partial<TemplateCreate>[] = [
  { auto_approve: true },
  { timeout_seconds: 60, timeout_action: 'auto_approve' },
  { allow_timeout_auto_approve: true },
];

const making =
  (body: Partial<TemplateCreate> = {}, actor: Actor = agent) =>
  (state: TemplateState) =>
    createTemplate({ template_id: TEMPLATE, project_id: PROJECT, actor, body: { ...BODY, ...body } }, state);
const drafting =
  (object: Record<string, unknown>, actor: Actor = agent) =>
  (state: TemplateState) =>
    draftTemplate({ template_id: TEMPLATE, project_id: PROJECT, actor, object }, state);
const changing =
  (object: Record<string, unknown>, actor: Actor = agent) =>
  (state: TemplateState) =>
    changeDraft({ actor, object }, state);
const updating =
  (body: Parameters<typeof updateTemplate>[0]['body'], actor: Actor = agent) =>
  (state: TemplateState) =>
    updateTemplate({ actor, body }, state);
const plain =
  (command: typeof publishTemplate, actor: Actor = agent) =>
  (state: TemplateState) =>
    command({ actor }, state);
const publishing = (actor?: Actor) => plain(publishTemplate, actor);
const deleting =
  (more: { force?: boolean; open_reviews?: number; actor?: Actor } = {}) =>
  (state: TemplateState) =>
    deleteTemplate({ actor: agent, force: false, open_reviews: 0, ...more }, state);

const made = (body?: Partial<TemplateCreate>, actor?: Actor) => empty().when(making(body, actor)).next;
const drafted = (object: Record<string, unknown> = { ...BODY }) => empty().when(drafting(object)).next;
const paused = (story = made()) => story.when(plain(pauseTemplate)).next;
const deleted = () => made().when(deleting()).next;
const wire = (story: Told) => templateToWire(story.state) as Template;

describe('making a template', () => {
  it('publishes its first version, every default written out, and keeps the slug to itself', () => {
    const led = empty().when(making());
    expect(led.types).toEqual(['template.published']);
    expect(led.body('template.published')).toEqual({
      version: 1,
      slug: 'mail',
      cause: 'created',
      by: { kind: 'agent', key_id: agent.key_id, key_prefix: agent.key_prefix },
      config: {
        name: 'Mail',
        description: null,
        instructions: null,
        fields: [{ name: 'subject', type: 'text', label: 'Subject', editable: true, required: false }],
        actions: [expect.objectContaining({ id: 'approve' }), expect.objectContaining({ id: 'reject', requires_feedback: true })],
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
      },
    });
    expect(led.decision.reserve).toEqual([slugKey(PROJECT, 'mail')]);
    expect(led.next.state).toMatchObject({ status: 'active', slug: 'mail', versions: [{ version: 1 }] });
  });

  it('does nothing when its stream already begins with it', () => {
    expect(made().when(making())).toMatchObject({ types: [], code: null });
    expect(made().when(drafting({}))).toMatchObject({ types: [], code: null });
  });

  it.each([
    ['a seconds without an action', { timeout_seconds: 60 }, 'invalid_timeout', 'timeout_action'],
    ['an action without seconds', { timeout_action: 'expire' as const }, 'invalid_timeout', 'timeout_seconds'],
    ['contradicting fields', { fields: [...BODY.fields, ...BODY.fields] }, 'invalid_fields', 'fields.1'],
    ['contradicting actions', { actions: ['approve', 'approve'] }, 'template.duplicate_action_id', 'actions'],
  ])('refuses %s', (_what, body, code, param) => {
    expect(empty().when(making(body)).refusal).toMatchObject({ code, param });
  });

  it('says so when the slug is another template’s', () => {
    expect(slugTaken('mail')).toMatchObject({ code: 'slug_already_exists', param: 'slug' });
    expect(slugKey(PROJECT, 'mail')).not.toBe(slugKey(OTHER, 'mail'));
  });
});

describe('T2: whatever lets something other than a person approve is put in force by a person (decision 10)', () => {
  it.each(APPROVING)('%j', (risky) => {
    expect(empty().when(making(risky)).code).toBe('human_actor_required');
    expect(empty().when(making(risky, chief)).types).toEqual(['template.published']);

    expect(made().when(updating(risky)).code).toBe('human_actor_required');
    expect(made().when(updating(risky, chief)).types).toEqual(['template.published']);

    const draft = drafted({ ...BODY, ...risky });
    expect(draft.when(publishing()).code).toBe('human_actor_required');
    expect(draft.when(publishing(chief)).types).toEqual(['template.published']);

    const inForce = made(risky, chief);
    expect(inForce.when(updating({ name: 'Other' })).code).toBe('human_actor_required');
    expect(
      inForce.when(updating({ auto_approve: false, timeout_seconds: null, timeout_action: null, allow_timeout_auto_approve: false })).types,
    ).toEqual(['template.published']);
    expect(paused(inForce).when(plain(resumeTemplate)).code).toBe('human_actor_required');
    expect(paused(inForce).when(plain(resumeTemplate, chief)).types).toEqual(['template.resumed']);
  });

  it('a key may publish what only ends or rejects by the clock', () => {
    for (const timeout_action of ['expire', 'auto_reject'] as const) {
      expect(empty().when(making({ timeout_seconds: 60, timeout_action })).types).toEqual(['template.published']);
    }
  });
});

describe('a draft', () => {
  it('begins from a configuration as far as it goes; nothing of it is in force', () => {
    const led = empty().when(drafting({ name: 'Mail', fields: [] }));
    expect(led.types).toEqual(['template.drafted']);
    expect(led.body('template.drafted')).toMatchObject({ slug: 'draft-12345678', draft: { name: 'Mail', fields: [] } });
    expect(led.decision.reserve).toEqual([slugKey(PROJECT, 'draft-12345678')]);
    expect(wire(led.next)).toMatchObject({
      status: 'draft',
      version: 0,
      name: 'Mail',
      fields: [],
      actions: [],
      draft_config: { name: 'Mail' },
    });
  });

  it('begins from a sample payload, whose keys become fields of their kind', () => {
    const sample = {
      subject: 'Hello',
      body: 'Dear all,\nthe meeting',
      long: 'x'.repeat(201),
      count: 3,
      urgent: true,
      link: 'https://a.example/x',
      due: '2026-11-30',
      at: '2026-11-30T09:00:00Z',
      tags: ['a'],
      nothing: null,
      'not a name': 1,
      _: 2,
    };
    const { draft } = empty().when(drafting(sample)).body('template.drafted');
    expect(draft).toMatchObject({ name: 'Untitled template', actions: ['approve', 'reject'] });
    expect((draft.fields as { name: string; type: string }[]).map(({ name, type }) => `${name} ${type}`)).toEqual([
      'subject text',
      'body markdown',
      'long markdown',
      'count number',
      'urgent boolean',
      'link url',
      'due date',
      'at date',
      'tags json',
      'nothing json',
      '_ number',
    ]);
    expect(drafted(sample).when(publishing()).next.state).toMatchObject({ status: 'active', slug: 'draft-12345678' });
  });

  it('is replaced as a whole', () => {
    const led = drafted().when(changing({ name: 'Post' }));
    expect(led.next.state).toMatchObject({ draft: { config: { name: 'Post' } } });
    expect(led.next.when(changing({ name: 'Post' }))).toMatchObject({ types: [], code: null });
    expect(made().when(changing({ name: 'Post' })).next.state).toMatchObject({
      status: 'active',
      versions: [{ config: { name: 'Mail' } }],
    });
  });

  it('is discarded', () => {
    const led = drafted().when(plain(discardDraft));
    expect(led.types).toEqual(['template.draft_discarded']);
    expect(led.next.state).toMatchObject({ status: 'draft', draft: null });
    expect(wire(led.next)).toMatchObject({ name: 'Untitled template', draft_config: null, draft_updated_at: null });
    expect(led.next.when(plain(discardDraft)).code).toBe('no_draft');
  });
});

describe('publishing', () => {
  it('makes the draft the first version, under the slug it names', () => {
    const led = drafted().when(publishing());
    expect(led.body('template.published')).toMatchObject({ version: 1, slug: 'mail', cause: 'published' });
    expect(led.decision).toMatchObject({ reserve: [slugKey(PROJECT, 'mail')], release: [slugKey(PROJECT, 'draft-12345678')] });
    expect(led.next.state).toMatchObject({ status: 'active', slug: 'mail', draft: null });
  });

  it('keeps its first slug where the draft names none', () => {
    const { slug: _, ...rest } = BODY;
    const led = drafted(rest).when(publishing());
    expect(led.body('template.published').slug).toBe('draft-12345678');
    expect(led.decision.reserve).toBeUndefined();
  });

  it('adds what the draft of a published template says to what stands', () => {
    const story = made({ timeout_seconds: 60, timeout_action: 'expire' }).when(
      changing({ name: 'Post', instructions: null, slug: 'mail' }),
    ).next;
    const led = story.when(publishing());
    expect(led.body('template.published')).toMatchObject({ version: 2, slug: 'mail', config: { name: 'Post', timeout_seconds: 60 } });
    expect(led.next.state).toMatchObject({ versions: [{ version: 1, config: { name: 'Mail' } }, { version: 2 }], draft: null });
  });

  it('leaves a paused template paused', () => {
    const story = paused(made().when(changing({ name: 'Post' })).next);
    expect(story.when(publishing()).next.state).toMatchObject({ status: 'inactive', versions: [{}, {}] });
  });

  it.each([
    ['nothing drafted', made(), 'no_draft', undefined],
    ['another slug after the first publication', made().when(changing({ slug: 'post' })).next, 'slug_immutable_after_publish', 'slug'],
    ['a slug that is none', drafted({ ...BODY, slug: 'Not A Slug' }), 'invalid_slug', 'slug'],
    ['a slug that is no text', drafted({ ...BODY, slug: 7 }), 'invalid_slug', 'slug'],
    ['a slug that is too long', drafted({ ...BODY, slug: 'a'.repeat(101) }), 'invalid_slug', 'slug'],
    ['no name', drafted({ fields: [] }), 'validation_failed', 'name'],
    ['no fields', drafted({ name: 'Mail' }), 'invalid_fields', 'fields'],
    ['fields that cannot be read', drafted({ ...BODY, fields: [{ name: 'A B' }] }), 'invalid_fields', expect.stringMatching(/^fields\.0/)],
    ['actions that cannot be read', drafted({ ...BODY, actions: [7] }), 'invalid_actions', expect.stringMatching(/^actions/)],
    ['fields that contradict each other', drafted({ ...BODY, fields: [...BODY.fields, ...BODY.fields] }), 'invalid_fields', 'fields.1'],
    ['a default that is out of bounds', drafted({ ...BODY, timeout_seconds: 1 }), 'validation_failed', 'timeout_seconds'],
    ['a feature that is not served yet', drafted({ ...BODY, allow_monitoring: true }), 'feature_not_available', 'allow_monitoring'],
    ['a chain', drafted({ ...BODY, chain_config: { steps: [] } }), 'feature_not_available', 'chain_config'],
    ['the draft of a deleted template', deleted(), 'template_not_found', undefined],
  ])('is refused: %s', (_what, story, code, param) => {
    const led = story.when(publishing());
    expect(led.types).toEqual([]);
    expect(led.refusal).toMatchObject({ code, ...(param && { param }) });
    expect(led.decision.reserve).toBeUndefined();
  });
});

describe('updating', () => {
  it('T1: makes the next version and leaves the others as they are', () => {
    const story = made();
    const led = story.when(updating({ name: 'Post', fields: [{ name: 'body', type: 'markdown', label: 'Body' }] }));
    expect(led.body('template.published')).toMatchObject({ version: 2, cause: 'updated', slug: 'mail', config: { name: 'Post' } });
    const { versions } = led.next.state as { versions: unknown[] };
    expect(versions[0]).toEqual((story.state as { versions: unknown[] }).versions[0]);
  });

  it('is already so where it changes nothing, and keeps a draft', () => {
    expect(made().when(updating({ name: 'Mail' }))).toMatchObject({ types: [], code: null });
    const story = made().when(changing({ name: 'Draft' })).next;
    expect(story.when(updating({ name: 'Post' })).next.state).toMatchObject({ draft: { config: { name: 'Draft' } } });
  });

  it('is refused before the first publication, and for contradictions', () => {
    expect(drafted().when(updating({ name: 'x' })).code).toBe('invalid_template_state');
    expect(made().when(updating({ timeout_seconds: 60 })).code).toBe('invalid_timeout');
    expect(deleted().when(updating({ name: 'x' })).code).toBe('template_not_found');
  });
});

describe('pausing and resuming', () => {
  it('stops new reviews, and lets them in again', () => {
    const story = paused();
    expect(story.state).toMatchObject({ status: 'inactive' });
    expect(story.when(plain(resumeTemplate)).next.state).toMatchObject({ status: 'active' });
    expect(story.when(plain(pauseTemplate))).toMatchObject({ types: [], code: null });
  });

  it('leaves a draft a draft', () => {
    const story = paused(drafted());
    expect(story.state).toMatchObject({ status: 'inactive' });
    expect(story.when(plain(resumeTemplate)).next.state).toMatchObject({ status: 'draft' });
  });

  it('resumes only what is paused', () => {
    expect(made().when(plain(resumeTemplate)).code).toBe('invalid_template_state');
    expect(deleted().when(plain(resumeTemplate)).code).toBe('template_not_found');
    expect(deleted().when(plain(pauseTemplate)).code).toBe('template_not_found');
  });
});

describe('deleting', () => {
  it('gives the slug back', () => {
    const led = made().when(deleting());
    expect(led.types).toEqual(['template.deleted']);
    expect(led.decision.release).toEqual([slugKey(PROJECT, 'mail')]);
    expect(templateToWire(led.next.state)).toBeNull();
    expect(requestedTemplate(led.next.state)).toBeNull();
    expect(led.next.when(deleting())).toMatchObject({ types: [], code: null });
  });

  it('waits for open reviews, unless it is forced', () => {
    expect(made().when(deleting({ open_reviews: 2 })).code).toBe('template_has_inflight_reviews');
    expect(
      made()
        .when(deleting({ open_reviews: 2, force: true }))
        .body('template.deleted'),
    ).toMatchObject({ forced: true, open_reviews: 2 });
  });
});

describe('who may', () => {
  const cases: [string, Actor, string | null, string | null][] = [
    ['a key with all scopes', agent, null, null],
    ['a key of another project', foreignAgent, 'template_not_found', 'template_not_found'],
    ['a key limited to this template', { ...agent, template_ids: [TEMPLATE] }, null, null],
    ['a key limited to another', { ...agent, template_ids: [id('tpl', 9)] }, 'template_not_allowed', 'template_not_allowed'],
    ['a key that may read', { ...agent, scopes: ['templates:read'] }, null, 'forbidden'],
    ['an admin', chief, null, null],
    ['a reviewer', reviewer, null, 'forbidden'],
    ['an admin of another project', stranger, 'template_not_found', 'template_not_found'],
    ['nobody', { kind: 'anonymous' }, 'missing_credentials', 'missing_credentials'],
  ];
  it.each(cases)('%s', (_who, actor, read, write) => {
    const story = made().when(changing({ name: 'Draft' })).next;
    expect(mayTemplate(actor, 'read', story.state)?.code ?? null).toBe(read);
    expect(mayTemplate(actor, 'write', story.state)?.code ?? null).toBe(write);
    const commands = [
      changing({ name: 'x' }, actor),
      updating({ name: 'x' }, actor),
      plain(publishTemplate, actor),
      plain(discardDraft, actor),
      plain(pauseTemplate, actor),
      deleting({ actor }),
    ];
    for (const command of commands) {
      expect(story.when(command).code).toBe(write);
      if (write !== null) expect(story.when(command).types).toEqual([]);
    }
    expect(paused().when(plain(resumeTemplate, actor)).code).toBe(write);
  });

  it('may make one: not a key that is limited to others, nor a reviewer', () => {
    const makers: [Actor, string | null][] = [
      [{ ...agent, template_ids: [TEMPLATE] }, 'template_not_allowed'],
      [reviewer, 'forbidden'],
      [stranger, 'template_not_found'],
      [foreignAgent, 'template_not_found'],
      [chief, null],
    ];
    for (const [actor, code] of makers) {
      expect(empty().when(making({}, actor)).code).toBe(code);
      expect(empty().when(drafting({}, actor)).code).toBe(code);
    }
  });

  it('finds no template where there is none', () => {
    expect(mayTemplate(chief, 'read', empty().state)?.code).toBe('template_not_found');
    expect(empty().when(publishing()).code).toBe('template_not_found');
    expect(empty().when(deleting()).code).toBe('template_not_found');
  });
});

describe('the template on the wire and for requests', () => {
  it.each([
    ['active', made({ timeout_seconds: 60, timeout_action: 'expire', actions: ['approve', { type: 'reject', label: 'No', value: 'no' }] })],
    ['drafted', drafted()],
    ['drafted from nothing', drafted({})],
    ['paused', paused()],
    ['changed', made().when(changing({ name: 'x' })).next],
  ])('keeps to its contract: %s', (_what, story) => {
    expect(validator(Template, 'exact')(JSON.parse(JSON.stringify(wire(story))))).toMatchObject({ ok: true });
    expect(JSON.parse(JSON.stringify(story.state))).toEqual(story.state);
  });

  it('is what a request pins', () => {
    const { state } = made().when(updating({ name: 'Post' })).next;
    expect(requestedTemplate(state)).toMatchObject({
      id: TEMPLATE,
      project_id: PROJECT,
      slug: 'mail',
      status: 'active',
      published: { version: 2, config: { name: 'Post' } },
    });
    expect(requestedTemplate(drafted().state)).toMatchObject({ status: 'draft', published: null });
    expect(requestedTemplate(empty().state)).toBeNull();
    expect(templateToWire(empty().state)).toBeNull();
  });
});

describe('folding a template', () => {
  type Stored = StoredEvent<TemplateEvent>;
  const fold = (events: readonly Stored[], state: TemplateState = { status: 'none' }) => events.reduce<TemplateState>(evolve, state);

  it('takes any prefix of any story', () => {
    const commands = fc.constantFrom(
      making(),
      making({ auto_approve: true }, chief),
      drafting({ ...BODY }),
      changing({ ...BODY, name: 'x' }),
      publishing(chief),
      plain(discardDraft),
      updating({ name: 'y' }, chief),
      plain(pauseTemplate),
      plain(resumeTemplate, chief),
      deleting(),
    );
    fc.assert(
      fc.property(fc.array(commands, { maxLength: 15 }), (all) => {
        let story = empty();
        for (const command of all) {
          const led = story.when(command);
          const { next } = led;
          expect(JSON.parse(JSON.stringify(next.state))).toEqual(next.state);
          if ('versions' in next.state)
            expect(next.state.versions.map(({ version }) => version)).toEqual(next.state.versions.map((_, i) => i + 1));
          if ('versions' in story.state)
            expect((next.state as typeof story.state).versions.slice(0, story.state.versions.length)).toEqual(story.state.versions);
          story = next;
        }
        expect(fold(story.events)).toEqual(story.state);
      }),
    );
  });

  it('passes over what cannot follow, and begins with a draft or a publication', () => {
    const { events } = deleted();
    expect(fold(events, deleted().state)).toEqual(deleted().state);
    expect(fold(events.slice(1))).toEqual({ status: 'none' });
    const draft = drafted();
    expect(fold(draft.events, draft.state)).toMatchObject({ status: 'draft' });
  });

  it('K4: an erased template is none', () => {
    const { events, state } = made();
    const first = events[0] as Stored;
    const marker = { ...first, type: 'stream.redacted', body: {} } as unknown as Stored;
    const bodiless = { ...first, body: null, redacted: true } as unknown as Stored;
    expect(fold([bodiless, marker])).toEqual({ status: 'none', erased: true });
    expect(evolve(state, marker)).toEqual({ status: 'none', erased: true });
    expect(evolve(state, bodiless)).toEqual(state);
    expect(fold(events, fold([bodiless]))).toEqual({ status: 'none', erased: true });
  });

  it('K10: does not pass over a type it does not know', () => {
    const unknown = { ...(made().events[0] as Stored), type: 'template.cloned' } as unknown as Stored;
    expect(() => evolve(made().state, unknown)).toThrow(UnknownTemplateEventError);
  });
});
