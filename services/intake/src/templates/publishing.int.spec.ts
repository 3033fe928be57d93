/** Who puts what in force, at once and in a race; what a list shows of it (decision 10, K5, K14). */
import type { Actor, TemplateCreate } from '@countersign/contracts';
import { newId } from '@countersign/event-store';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { FIELDS, type Server, startServer } from '../fixture/server.js';

let server: Server;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

const create = (body: Partial<TemplateCreate>, actor: Actor = server.agent) =>
  server.call('createTemplate', actor, { body: { name: 'Mail', fields: FIELDS, ...body } });
const on = (operation: 'publishTemplate' | 'pauseTemplate' | 'resumeTemplate', id: string, actor: Actor = server.agent) =>
  server.call(operation, actor, { params: { id } });
const list = async (actor: Actor, headers: Record<string, string> = {}) => (await server.call('listTemplates', actor, { headers })).body;
const at = <T>(count: number, make: (n: number) => Promise<T>) => Promise.all(Array.from({ length: count }, (_, n) => make(n)));

describe('what lets software or the clock approve', () => {
  let made = 0;

  describe.each<[string, Partial<TemplateCreate>]>([
    ['auto_approve', { auto_approve: true }],
    ['a timeout that approves', { timeout_seconds: 60, timeout_action: 'auto_approve' }],
    ['requests that may ask for one', { allow_timeout_auto_approve: true }],
  ])('%s', (_what, approving) => {
    const refused = { status: 403, code: 'human_actor_required' };
    const slug = () => `approving-${++made}`;

    it('is not put in force by a key, on any way', async () => {
      const { position } = await server.store.head();
      expect(await create({ slug: slug(), ...approving })).toMatchObject(refused);
      expect((await server.store.head()).position).toBe(position);
      const plain = await create({ slug: slug() });
      const { id } = plain.body;
      expect(await server.call('updateTemplate', server.agent, { params: { id }, body: approving })).toMatchObject(refused);
      expect((await server.call('replaceTemplateDraft', server.agent, { params: { id }, body: approving })).status).toBe(200);
      expect(await on('publishTemplate', id)).toMatchObject(refused);
      const { body } = await server.call('getTemplate', server.agent, { params: { id } });
      expect(body).toMatchObject({ version: 1, auto_approve: false, timeout_action: null, allow_timeout_auto_approve: false });
    });

    it('is put in force by a person; a key may pause it, and not resume it', async () => {
      const { id } = (await create({ slug: slug() })).body;
      await server.call('replaceTemplateDraft', server.agent, { params: { id }, body: approving });
      expect((await on('publishTemplate', id, server.chief)).body).toMatchObject({ version: 2, ...approving });
      expect((await on('pauseTemplate', id)).status).toBe(200);
      expect(await on('resumeTemplate', id)).toMatchObject(refused);
      expect((await on('resumeTemplate', id, server.chief)).body.status).toBe('active');
    });
  });

  it('is not an action that means the contrary of its built-in id, whether new or in a published template', async () => {
    const actions = [{ id: 'reject', label: 'Reject', kind: 'decision' as const, decision_value: 'approved' as const }];
    const refused = { status: 400, code: 'invalid_actions' };
    expect(await create({ slug: 'contrary', actions })).toMatchObject(refused);
    const { id } = (await create({ slug: 'not-contrary' })).body;
    expect(await server.call('updateTemplate', server.agent, { params: { id }, body: { actions } })).toMatchObject(refused);
    expect((await server.call('getTemplate', server.agent, { params: { id } })).body.version).toBe(1);
  });

  it('does not keep a key from drafting and publishing what is plain', async () => {
    const { id } = (await server.call('createTemplateDraft', server.agent, { body: { slug: 'plain', name: 'Plain', fields: [] } })).body;
    expect((await on('publishTemplate', id)).body).toMatchObject({ slug: 'plain', version: 1, status: 'active' });
  });
});

describe('a slug', () => {
  it('goes to one of twenty who want it at once', async () => {
    const answers = await at(20, (n) => create({ slug: 'wanted', name: `No. ${n}` }, n % 2 ? server.chief : server.agent));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    const refused = answers.filter(({ status }) => status !== 201);
    for (const { status, body } of refused)
      expect([status, body.error]).toMatchObject([400, { code: 'slug_already_exists', param: 'slug' }]);
    const found = await server.call('createReview', server.agent, { body: { template: 'wanted', payload: { subject: 'x' } } });
    expect(found.body.template_id).toBe(answers.find(({ status }) => status === 201)?.body.id);
  });

  it('goes to one of twenty drafts that are published under it at once; the others keep what they had', async () => {
    const drafts = await at(20, async () => {
      const { body } = await server.call('createTemplateDraft', server.chief, { body: { slug: 'drafted', name: 'x', fields: [] } });
      return body;
    });
    const answers = await Promise.all(drafts.map(({ id }) => on('publishTemplate', id)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ code }) => code === 'slug_already_exists')).toHaveLength(19);
    const [loser] = drafts.filter((_, n) => answers[n]?.status !== 200);
    const kept = await server.call('getTemplate', server.chief, { params: { id: loser?.id ?? '' } });
    expect(kept.body).toMatchObject({ slug: loser?.slug, status: 'draft', version: 0 });
  });

  it('is free again once its template is deleted, and belongs to each project by itself', async () => {
    const first = await create({ slug: 'passed-on' });
    expect((await create({ slug: 'passed-on' }, server.stranger)).status).toBe(201);
    await server.call('deleteTemplate', server.chief, { params: { id: first.body.id } });
    const second = await create({ slug: 'passed-on' });
    expect(second.status).toBe(201);
    expect(
      (await server.call('createReview', server.agent, { body: { template: 'passed-on', payload: { subject: 'x' } } })).body,
    ).toMatchObject({
      template_id: second.body.id,
    });
  });

  it('a draft had before it was published under another is free', async () => {
    const { body } = await server.call('createTemplateDraft', server.chief, { body: { slug: 'named', name: 'x', fields: [] } });
    await on('publishTemplate', body.id);
    expect((await create({ slug: body.slug })).status).toBe(201);
  });
});

describe('versions', () => {
  it('are numbered one after the other, whoever updates at once', async () => {
    const { id } = (await create({ slug: 'numbered' })).body;
    const answers = await at(20, (n) => server.call('updateTemplate', server.chief, { params: { id }, body: { description: `No. ${n}` } }));
    // Whoever lost every one of six races is told to come again; nobody meets a fault.
    const [made, refused] = [answers.filter(({ status }) => status === 200), answers.filter(({ status }) => status !== 200)];
    expect(made.length).toBeGreaterThan(0);
    expect(refused.map(({ status, headers }) => [status, headers['retry-after']])).toEqual(refused.map(() => [503, '1']));
    expect(made.map(({ body }) => body.version).sort((a, b) => a - b)).toEqual(made.map((_, n) => n + 2));
    const { events } = await server.store.readStream(id);
    expect(events.map((event) => (event.body as { version: number }).version)).toEqual([1, ...made.map((_, n) => n + 2)]);
  });
});

describe('the list', () => {
  it('shows its caller’s own last write, every time', async () => {
    for (let n = 0; n < 20; n++) {
      const { headers, body } = await create({ slug: `own-${n}` });
      const { items } = await list(server.agent, { 'countersign-seen': String(headers['countersign-seen']) });
      expect(items.map(({ id }) => id)).toContain(body.id);
    }
  });

  it('waits a second for that and no longer, and takes nonsense for no wish', async () => {
    const before = await list(server.chief);
    await server.bus.pause('intake');
    const { headers } = await create({ slug: 'waited-for' });
    const seen = String(headers['countersign-seen']);
    expect((await list(server.chief, { 'countersign-seen': seen })).total).toBe(before.total);
    expect((await list(server.chief, { 'countersign-seen': 'nonsense,1.x' })).total).toBe(before.total);
    await server.bus.resume('intake');
    expect((await list(server.chief, { 'countersign-seen': seen })).total).toBe(before.total + 1);
  });

  it('has all of the project, oldest first, and of them what its caller may use', async () => {
    await server.caughtUp();
    const { items, total, has_more } = await list(server.ann);
    expect([items.length, has_more]).toEqual([total, false]);
    expect(items.map(({ created_at }) => created_at)).toEqual(items.map(({ created_at }) => created_at).sort());
    expect(new Set(items.map(({ project_id }) => project_id))).toEqual(new Set([server.project]));
    const [one] = items;
    const limited = await list({ ...server.agent, template_ids: [one?.id ?? '', newId('tpl')] });
    expect(limited).toMatchObject({ total: 1, items: [one] });
    expect((await list(server.stranger)).items.map(({ slug }) => slug)).toEqual(['passed-on']);
    await server.call('deleteTemplate', server.chief, { params: { id: one?.id ?? '' } });
    await server.caughtUp();
    expect((await list(server.ann)).items).toEqual(items.slice(1));
  });
});
