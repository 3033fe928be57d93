import { type Actor, Template, type TemplateEvent, validator } from '@countersign/contracts';
import { type StoredEvent, UnknownEventError } from '@countersign/event-store';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { evolve, requestedTemplate, type TemplateState, templateToWire } from './template.js';
import { discardDraft, mayTemplate, pauseTemplate, publishTemplate, resumeTemplate } from './template-decider.js';
import {
  agent,
  BODY,
  changing,
  chief,
  deleted,
  deleting,
  drafted,
  drafting,
  empty,
  foreignAgent,
  id,
  made,
  making,
  PROJECT,
  paused,
  plain,
  publishing,
  reviewer,
  stranger,
  TEMPLATE,
  updating,
  wire,
} from './template-fixture.js';

describe('who may', () => {
  const cases: [string, Actor, string | null, string | null][] = [
    ['a key with all scopes', agent, null, null],
    ['a key of another project', foreignAgent, 'template_not_found', 'template_not_found'],
    ['a key limited to this template', { ...agent, template_ids: [TEMPLATE] }, null, null],
    ['a key limited to another', { ...agent, template_ids: [id('tpl', 9)] }, 'template_not_found', 'template_not_found'],
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
    expect(() => evolve(made().state, unknown)).toThrow(UnknownEventError);
  });
});
