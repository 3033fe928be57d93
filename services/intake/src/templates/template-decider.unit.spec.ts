import { describe, expect, it } from '@jest/globals';
import { requestedTemplate, templateToWire } from './template.js';
import { discardDraft, pauseTemplate, resumeTemplate, slugKey, slugTaken } from './template-decider.js';
import {
  APPROVING,
  agent,
  BODY,
  changing,
  chief,
  deleted,
  deleting,
  drafted,
  drafting,
  empty,
  made,
  making,
  OTHER,
  PROJECT,
  paused,
  plain,
  publishing,
  updating,
  wire,
} from './template-fixture.js';

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
    ['a template without notes', drafted({ ...BODY, allow_notes: false }), 'feature_not_available', 'allow_notes'],
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
