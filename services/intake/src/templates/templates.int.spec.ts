/** The life of a template through HTTP (HRP §1.3, §3; decision 10). */
import type { Actor, ResponseOf } from '@countersign/contracts';
import { newId } from '@countersign/event-store';
import { withdraw } from '@countersign/review';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { FIELDS, type Input, PAYLOAD, type Server, startServer } from '../fixture/server.js';

let server: Server;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

type Change = 'updateTemplate' | 'replaceTemplateDraft' | 'discardTemplateDraft' | 'publishTemplate' | 'pauseTemplate' | 'resumeTemplate';
const change = (operation: Change, id: string, body?: unknown, actor: Actor = server.chief) =>
  server.call(operation, actor, { params: { id }, body });
const read = (id: string, actor: Actor = server.chief) => server.call('getTemplate', actor, { params: { id } });
const remove = (id: string, query: Input['query'] = {}) => server.call('deleteTemplate', server.chief, { params: { id }, query });
const draft = async (object: Record<string, unknown>): Promise<ResponseOf<'createTemplateDraft'>> =>
  (await server.call('createTemplateDraft', server.chief, { body: object })).body;

describe('a template', () => {
  it('begins in force, its defaults written out and its actions canonical', async () => {
    const body = {
      slug: 'begun',
      name: 'Begun',
      fields: FIELDS,
      actions: ['approve', 'reject', { type: 'approve', label: 'Go', value: 'go' }],
    };
    const twice = await server.call('createTemplate', server.chief, { body });
    expect([twice.status, twice.code]).toEqual([400, 'template.duplicate_decision_value']);
    const {
      status,
      headers,
      body: made,
    } = await server.call('createTemplate', server.chief, {
      body: { ...body, actions: ['reject', body.actions[2]] },
    });
    expect(status).toBe(201);
    expect(headers['countersign-seen']).toMatch(/^\d+\.\d+$/);
    expect(made).toMatchObject({
      slug: 'begun',
      version: 1,
      status: 'active',
      auto_approve: false,
      timeout_seconds: null,
      draft_config: null,
    });
    expect(made.fields[1]).toEqual({ name: 'recipients', type: 'number', label: 'Recipients', editable: false, required: false });
    expect(made.actions.map(({ id, kind, decision_value }) => [id, kind, decision_value])).toEqual([
      ['reject', 'decision', 'rejected'],
      ['go', 'decision', 'approved'],
    ]);
    expect((await read(made.id)).body).toEqual(made);
  });

  it('becomes its next version by an update, and an update that changes nothing is a repeat', async () => {
    const { id } = await server.template();
    const updated = await change('updateTemplate', id, { name: 'Renamed', max_iterations: 2 });
    expect(updated.body).toMatchObject({ version: 2, name: 'Renamed', max_iterations: 2, fields: [{ name: 'subject' }, {}] });
    const again = await change('updateTemplate', id, { name: 'Renamed' });
    expect([again.status, again.body.version, again.headers['idempotent-replay']]).toEqual([200, 2, 'true']);
  });

  it('takes no new requests while it is paused', async () => {
    const { id, slug } = await server.template();
    const ask = () => server.call('createReview', server.agent, { body: { template: slug, payload: PAYLOAD } });
    expect((await change('pauseTemplate', id)).body.status).toBe('inactive');
    expect((await change('pauseTemplate', id)).headers['idempotent-replay']).toBe('true');
    expect((await ask()).code).toBe('template_inactive');
    expect((await change('resumeTemplate', id)).body.status).toBe('active');
    expect((await ask()).status).toBe(201);
    const twice = await change('resumeTemplate', id);
    expect([twice.status, twice.code]).toEqual([400, 'invalid_template_state']);
  });

  it('is deleted once nobody waits for a review of it, or by force', async () => {
    const { id, slug } = await server.template();
    const review = await server.ask(slug);
    const early = await remove(id);
    expect([early.status, early.code]).toEqual([400, 'template_has_inflight_reviews']);
    await server.happen(review, null, (state, now) => withdraw({ actor: server.agent }, state, now));
    expect((await remove(id)).body).toEqual({ object: 'template', id, deleted: true });
    expect((await remove(id)).headers['idempotent-replay']).toBe('true');
    expect((await read(id)).code).toBe('template_not_found');
    expect((await change('pauseTemplate', id)).code).toBe('template_not_found');
    const [other, open] = [await server.template(), await server.template()];
    await server.ask(open.slug);
    expect((await remove(other.id)).status).toBe(200);
    expect((await remove(open.id, { force: true })).status).toBe(200);
  });

  it('is not deleted on a guess: while open reviews cannot be counted, whoever does not force it is told to come again', async () => {
    const { id, slug } = await server.template();
    await server.bus.pause('intake');
    try {
      await server.ask(slug);
      const unknown = await remove(id);
      expect([unknown.status, unknown.code, unknown.headers['retry-after']]).toEqual([503, 'service_unavailable', '1']);
    } finally {
      await server.bus.resume('intake');
    }
    expect((await remove(id)).code).toBe('template_has_inflight_reviews');
  });
});

describe('a draft', () => {
  it('is made of any object, and nothing of it is in force', async () => {
    const made = await draft({
      to: 'a@b.c',
      text: 'x'.repeat(300),
      sent: '2026-11-30',
      link: 'https://e.example',
      count: 3,
      ok: true,
      more: {},
    });
    expect(made).toMatchObject({ status: 'draft', version: 0, name: 'Untitled template', fields: [], actions: [] });
    expect(made.slug).toMatch(/^draft-[0-9a-z]{8}$/);
    const { fields } = made.draft_config as { fields: { name: string; type: string }[] };
    const types = fields.map(({ name, type }) => [name, type]);
    expect(types).toEqual([
      ['to', 'text'],
      ['text', 'markdown'],
      ['sent', 'date'],
      ['link', 'url'],
      ['count', 'number'],
      ['ok', 'boolean'],
      ['more', 'json'],
    ]);
    const many = Object.fromEntries(Array.from({ length: 51 }, (_, n) => [`k${n}`, n]));
    expect((await server.call('createTemplateDraft', server.chief, { body: many })).code).toBe('validation_failed');
  });

  it('is replaced as a whole, published as the first version, and then gone', async () => {
    const { id } = await draft({ a: 1 });
    const object = { slug: 'published-draft', name: 'Published', fields: FIELDS };
    expect((await change('replaceTemplateDraft', id, object)).body.draft_config).toEqual(object);
    expect((await change('replaceTemplateDraft', id, object)).headers['idempotent-replay']).toBe('true');
    expect((await change('updateTemplate', id, { name: 'x' })).code).toBe('invalid_template_state');
    const { body } = await change('publishTemplate', id);
    expect(body).toMatchObject({ slug: 'published-draft', status: 'active', version: 1, name: 'Published', draft_config: null });
    const twice = await change('publishTemplate', id);
    expect([twice.status, twice.code]).toEqual([400, 'no_draft']);
  });

  it('of a published template changes what it names, and leaves the rest and the slug as they stand', async () => {
    const { id, slug } = await server.template({ max_iterations: 3 });
    await change('replaceTemplateDraft', id, { name: 'Next', slug: 'another' });
    expect((await read(id)).body).toMatchObject({ version: 1, name: 'Mail', draft_config: { name: 'Next', slug: 'another' } });
    expect((await change('publishTemplate', id)).code).toBe('slug_immutable_after_publish');
    await change('replaceTemplateDraft', id, { name: 'Next', slug });
    expect((await change('publishTemplate', id)).body).toMatchObject({ version: 2, name: 'Next', slug, max_iterations: 3 });
  });

  it('can be discarded', async () => {
    const { id } = await server.template();
    await change('replaceTemplateDraft', id, { name: 'Next' });
    expect((await change('discardTemplateDraft', id)).body.draft_config).toBeNull();
    const twice = await change('discardTemplateDraft', id);
    expect([twice.status, twice.code]).toEqual([400, 'no_draft']);
  });

  it.each<[string, Record<string, unknown>, string, string]>([
    ['a slug that is none', { slug: 'No Slug', name: 'x', fields: [] }, 'invalid_slug', 'slug'],
    ['a slug that is taken', { slug: 'taken', name: 'x', fields: [] }, 'slug_already_exists', 'slug'],
    ['no name', { fields: [] }, 'validation_failed', 'name'],
    ['fields that are none', { name: 'x', fields: 'all' }, 'invalid_fields', 'fields'],
    [
      'a field with a member that is none',
      { name: 'x', fields: [{ name: 'a', type: 'text', label: 'A', requird: true }] },
      'invalid_fields',
      'fields.0.requird',
    ],
    ['actions that are none', { name: 'x', fields: [], actions: 7 }, 'invalid_actions', 'actions'],
    ['a chain', { name: 'x', fields: [], chain_config: {} }, 'feature_not_available', 'chain_config'],
    ['a timeout without its end', { name: 'x', fields: [], timeout_seconds: 60 }, 'invalid_timeout', 'timeout_action'],
  ])('with %s is not published', async (_what, object, code, param) => {
    if (object.slug === 'taken') await server.template({ slug: 'taken' });
    const { id } = await draft(object);
    const { status, body } = await change('publishTemplate', id);
    expect([status, body.error]).toMatchObject([400, { code, param }]);
    expect((await read(id)).body).toMatchObject({ version: 0, status: 'draft' });
  });
});

describe('what contradicts itself', () => {
  const field = (more: object) => ({ name: 'a', type: 'text', label: 'A', ...more });
  const decision = (id: string, more: object = {}) => ({ id, label: id, kind: 'decision', decision_value: 'approved', ...more });

  it.each<[string, object]>([
    ['invalid_fields', { fields: [field({}), field({})] }],
    ['invalid_fields', { fields: [field({ type: 'select' })] }],
    ['invalid_timeout', { timeout_action: 'expire' }],
    ['invalid_actions', { actions: ['explode'] }],
    ['invalid_actions', { actions: [decision('reject')] }],
    ['template.no_terminal_action', { actions: ['request_changes'] }],
    ['template.missing_decision_value', { actions: [{ id: 'a', label: 'A', kind: 'decision' }] }],
    ['template.unexpected_decision_value', { actions: [{ ...decision('a'), kind: 'side_effect' }] }],
    ['template.unexpected_webhook_event', { actions: [decision('a', { webhook_event: 'x.y' })] }],
    ['template.duplicate_action_id', { actions: [decision('a'), decision('a', { decision_value: 'rejected' })] }],
    ['template.duplicate_decision_value', { actions: [decision('a'), decision('b')] }],
    ['validation_failed', { timout_seconds: 60 }],
    ['slug_already_exists', { slug: 'again' }],
    ['validation_failed', { slug: 'Bad Slug' }],
    ['feature_not_available', { allow_monitoring: true }],
    ['feature_not_available', { allow_notes: false }],
    ['feature_not_available', { enable_review_links: true }],
    ['feature_not_available', { default_auth_level: 'email_otp' }],
    ['feature_not_available', { default_auth_level: 'account' }],
    ['feature_not_available', { default_expiry_seconds: 3_600 }],
  ])('is refused: %s %j', async (code, more) => {
    if (code === 'slug_already_exists') await server.template({ slug: 'again' });
    const answer = await server.call('createTemplate', server.chief, { body: { slug: 'contrary', name: 'x', fields: [], ...more } });
    expect([answer.status, answer.code]).toEqual([400, code]);
    if ('slug' in more) return;
    // Whichever way it would come into force.
    const { id } = await server.template();
    expect((await change('updateTemplate', id, more)).code).toBe(code);
    expect((await change('replaceTemplateDraft', id, more)).status).toBe(200);
    expect((await change('publishTemplate', id)).code).toBe(code);
    expect((await read(id)).body.version).toBe(1);
  });
});

describe('who may', () => {
  it('read: reviewers and keys of the project; write: admins and keys with the scope', async () => {
    const { id } = await server.template();
    const without = (scope: string): Actor => ({ ...server.agent, scopes: server.agent.scopes.filter((one) => one !== scope) });
    const limited: Actor = { ...server.agent, template_ids: [newId('tpl')] };
    const answers = async (actor: Actor) => [
      (await read(id, actor)).code ?? 'ok',
      (await change('pauseTemplate', id, undefined, actor)).code ?? 'ok',
    ];
    expect(await answers(server.ann)).toEqual(['ok', 'forbidden']);
    expect(await answers(without('templates:write'))).toEqual(['ok', 'forbidden']);
    expect(await answers(without('templates:read'))).toEqual(['forbidden', 'ok']);
    expect(await answers(limited)).toEqual(['template_not_found', 'template_not_found']);
    expect(await answers({ ...server.agent, template_ids: [id] })).toEqual(['ok', 'ok']);
    expect(await answers(server.stranger)).toEqual(['template_not_found', 'template_not_found']);
    expect(await answers(server.foreignAgent)).toEqual(['template_not_found', 'template_not_found']);
  });

  it('change one in no way: who does not see it, or may not use it', async () => {
    const { id } = await server.template();
    const limited: Actor = { ...server.agent, template_ids: [newId('tpl')] };
    const changes: Change[] = [
      'updateTemplate',
      'replaceTemplateDraft',
      'discardTemplateDraft',
      'publishTemplate',
      'pauseTemplate',
      'resumeTemplate',
    ];
    for (const actor of [limited, server.stranger]) {
      for (const operation of changes) {
        const [hidden, none] = [await change(operation, id, {}, actor), await change(operation, newId('tpl'), {}, actor)];
        expect([hidden.code, hidden.body]).toEqual(['template_not_found', none.body]);
      }
      expect((await server.call('deleteTemplate', actor, { params: { id } })).code).toBe('template_not_found');
    }
    for (const none of [newId('tpl'), 'nonsense']) {
      for (const operation of changes) expect((await change(operation, none, {})).code).toBe('template_not_found');
      expect((await remove(none)).code).toBe('template_not_found');
    }
    expect((await server.store.readStream(id)).version).toBe(1);
  });

  it('make one: nobody whose key is limited to some templates', async () => {
    const limited: Actor = { ...server.agent, template_ids: [newId('tpl')] };
    for (const operation of ['createTemplate', 'createTemplateDraft'] as const) {
      const answer = await server.call(operation, limited, { body: { slug: 'limited', name: 'x', fields: [] } });
      expect([answer.status, answer.code]).toEqual([403, 'template_not_allowed']);
    }
  });
});
