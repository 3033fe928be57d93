/** `POST /reviews` through HTTP: what it answers, what it refuses, and whom and what it looks up (HRP §1.2a, §1.2b). */
import type { Actor, Template } from '@countersign/contracts';
import { newId } from '@countersign/event-store';
import { digest } from '@countersign/evidence';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { PAYLOAD, type Server, startServer } from './fixture/server.js';

let server: Server;
let mail: Template;
beforeAll(async () => {
  server = await startServer();
  mail = await server.template({ slug: 'mail' });
});
afterAll(() => server.close());

const asking = (body: Record<string, unknown> = {}, actor: Actor = server.agent) =>
  server.call('createReview', actor, { body: { template: 'mail', payload: PAYLOAD, ...body } });

describe('asking for a review', () => {
  it('is answered with the review as it stands, and where it was written', async () => {
    const { status, headers, body } = await asking({
      priority: 'high',
      confidence: 0.5,
      metadata: { run: 7 },
      trace_url: 'https://t.example/1',
    });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      object: 'review',
      project_id: server.project,
      status: 'pending',
      template_id: mail.id,
      template_slug: 'mail',
      template_version: 1,
      payload: PAYLOAD,
      payload_digest: digest(PAYLOAD),
      priority: 'high',
      metadata: { run: 7 },
      requested_by: server.agent.key_id,
      requested_by_name: 'mailer',
      assignee: null,
      expires_at: null,
    });
    expect(body.available_actions.map(({ id, label }) => [id, label])).toEqual([
      ['approve', 'Approve'],
      ['reject', 'Reject'],
      ['request_changes', 'Request changes'],
    ]);
    const [event] = await server.facts(body.id);
    expect(headers['countersign-seen']).toBe(`${event?.position}.${event?.bucket}`);
    expect(headers).not.toHaveProperty('idempotent-replay');
    expect(event).toMatchObject({ type: 'review.requested', project: server.project });
    expect(event?.meta).toMatchObject({
      actor: { kind: 'agent', id: server.agent.key_id, label: server.agent.key_prefix },
      request_id: 'test-request',
      labels: { template_slug: 'mail', priority: 'high' },
    });
  });

  it('names its template by slug or by id', async () => {
    expect((await asking({ template: mail.id })).body.template_slug).toBe('mail');
  });

  it('schedules what the clock will do, in the same append', async () => {
    const { body } = await asking({ timeout: { seconds: 3600, action: 'expire' } });
    expect(Date.parse(body.expires_at ?? '')).toBe(Date.parse(body.created_at) + 3_600_000);
    const { rows } = await server.db.pool.query(
      `select kind, extract(epoch from due_at - $2::timestamptz)::int as seconds from event_store.timers
       where generation = $1 order by kind`,
      [(await server.facts(body.id))[0]?.position, body.created_at],
    );
    expect(rows).toEqual([
      { kind: 'reminder', seconds: 2700 },
      { kind: 'timeout', seconds: 3600 },
    ]);
  });

  it('is decided at once where a person published a template that says so, by no person', async () => {
    const { slug } = await server.template({ auto_approve: true, timeout_seconds: 60, timeout_action: 'expire' });
    const { status, body } = await asking({ template: slug });
    expect(status).toBe(201);
    expect(body).toMatchObject({ status: 'decided', decision: 'approved', decided_by: 'system/auto-approve', auto_approved: true });
    expect(body).toMatchObject({ action_value: 'auto_approve', action_label: 'Auto-approved', available_actions: [] });
    expect(body).toMatchObject({ decided_by_verified: null, shown: null, approved_digest: digest(PAYLOAD) });
    expect((await server.facts(body.id)).map(({ type }) => type)).toEqual(['review.requested', 'review.decided']);
  });

  it('pins what was published: a later version changes no open review', async () => {
    const template = await server.template();
    const before = await server.ask(template.slug);
    const fields = [{ name: 'subject', type: 'number' as const, label: 'Number', required: true }];
    expect((await server.call('updateTemplate', server.chief, { params: { id: template.id }, body: { fields } })).status).toBe(200);
    const [old] = await server.facts(before);
    expect(old?.body).toMatchObject({ template: { version: 1 }, fields: [{ name: 'subject', type: 'text' }, {}] });
    expect((await asking({ template: template.slug })).body.error).toMatchObject({ code: 'payload_invalid', param: 'payload.subject' });
    expect((await asking({ template: template.slug, payload: { subject: 1 } })).body.template_version).toBe(2);
  });
});

describe('the people of a request', () => {
  it.each([
    ['an e-mail address, however it is written', () => 'ANN@Example.org'],
    ['an id', () => server.ann.person_id],
  ])('are found by %s', async (_how, ref) => {
    const { body } = await asking({ assignee: ref(), on_behalf_of: ref() });
    expect(body).toMatchObject({ assignee: 'ann@example.org', on_behalf_of: server.ann.person_id });
    const [event] = await server.facts(body.id);
    expect(event?.body).toMatchObject({ assignee_id: server.ann.person_id, on_behalf_of: { email: 'ann@example.org' } });
  });

  it('may be a role', async () => {
    const { body } = await asking({ assignee: 'role:reviewer' });
    expect(body.assignee).toBe('role:reviewer');
    expect((await server.facts(body.id))[0]?.body).toMatchObject({ assignee_id: null });
  });

  it('are the key’s default reviewer where the request names nobody, for as long as they are in the project', async () => {
    const bea = await server.person(server.project, 'bea', 'reviewer');
    const agent = { ...server.agent, default_reviewer: bea.person_id };
    const { body } = await asking({}, agent);
    expect(body.assignee).toBe('bea@example.org');
    expect((await server.facts(body.id))[0]?.body).toMatchObject({ assignee_id: bea.person_id });
    expect((await asking({ assignee: 'ann@example.org' }, agent)).body.assignee).toBe('ann@example.org');
    expect((await server.call('removeMember', server.chief, { params: { id: bea.person_id } })).status).toBe(204);
    expect((await asking({}, agent)).body).toMatchObject({ status: 'pending', assignee: null });
  });

  it.each([
    ['assignee', 'nobody@example.org', 'invalid_assignee'],
    ['assignee', 'stranger@example.org', 'invalid_assignee'],
    ['assignee', 'role:owner', 'invalid_assignee'],
    ['on_behalf_of', 'nobody@example.org', 'invalid_on_behalf_of'],
    ['on_behalf_of', 'role:admin', 'invalid_on_behalf_of'],
  ])('%s %s is refused', async (param, ref, code) => {
    expect((await asking({ [param]: ref })).body.error).toMatchObject({ code, param });
  });

  it('cannot be looked up without the directory: the request is 503 and can be sent again with its key', async () => {
    const { directory } = server.apps;
    server.apps.directory = undefined;
    const body = { assignee: 'ann@example.org', idempotency_key: 'directory-down' };
    const down = await asking(body);
    expect([down.status, down.code, down.headers['retry-after']]).toEqual([503, 'service_unavailable', '1']);
    // Who names nobody is not kept waiting.
    expect((await asking()).status).toBe(201);
    server.apps.directory = directory;
    expect((await asking(body)).status).toBe(201);
  });
});

describe('a callback address', () => {
  it.each(['https://agent.example/hook', 'http://10.9.200.1:4000/hook', 'https://listed.example/'])('%s is taken', async (callback_url) => {
    expect((await asking({ callback_url })).body.callback_url).toBe(callback_url);
  });

  it.each([
    'http://127.0.0.1:3100/',
    'http://localhost./',
    'http://10.0.0.7/',
    'http://192.168.1.1/',
    'http://0x7f.1/',
    'http://2130706433/',
    'http://[::1]/',
    'http://[::ffff:7f00:1]/',
    'http://169.254.169.254/latest/meta-data',
    'https://inside.example/',
    'https://metadata.example/',
    'https://nowhere.example/',
    'https://user:secret@agent.example/',
  ])('%s is refused', async (callback_url) => {
    expect((await asking({ callback_url })).body.error).toMatchObject({ code: 'invalid_callback_url', param: 'callback_url' });
  });
});

describe('a request is refused', () => {
  const limited = () => ({ ...server.agent, template_ids: [newId('tpl')] });

  it.each<[string, () => Actor, number, string]>([
    ['a person', () => server.chief, 403, 'forbidden'],
    ['a key without the scope', () => ({ ...server.agent, scopes: ['reviews:read', 'reviews:decide'] }), 403, 'forbidden'],
    ['a key that may not use the template', limited, 404, 'template_not_found'],
    ['a key of another project', () => server.foreignAgent, 404, 'template_not_found'],
  ])('to %s', async (_who, actor, status, code) => {
    const answer = await asking({}, actor());
    expect([answer.status, answer.code]).toEqual([status, code]);
  });

  it('for a template that was never published, is paused, deleted or does not exist', async () => {
    const draft = await server.call('createTemplateDraft', server.chief, { body: { name: 'Later' } });
    const [paused, deleted] = [await server.template(), await server.template()];
    await server.call('pauseTemplate', server.chief, { params: { id: paused.id } });
    await server.call('deleteTemplate', server.chief, { params: { id: deleted.id } });
    const codes = [draft.body.slug, draft.body.id, paused.slug, deleted.slug, deleted.id, 'unheard-of', newId('tpl')].map(
      async (template) => {
        const { status, body } = await asking({ template });
        expect(body.error?.param).toBe('template');
        return [status, body.error?.code];
      },
    );
    const missing = [404, 'template_not_found'];
    expect(await Promise.all(codes)).toEqual([
      [400, 'template_draft'],
      [400, 'template_draft'],
      [400, 'template_inactive'],
      ...[missing, missing, missing, missing],
    ]);
  });

  it.each<[string, Record<string, unknown>, number, string, string]>([
    ['no template', { template: undefined }, 400, 'validation_failed', 'body.template'],
    ['no payload', { payload: undefined }, 400, 'validation_failed', 'body.payload'],
    ['a payload that is a list', { payload: [] }, 400, 'validation_failed', 'body.payload'],
    ['a priority that is none', { priority: 'urgent' }, 400, 'validation_failed', 'body.priority'],
    ['a timeout without an end', { timeout: { seconds: 60 } }, 400, 'validation_failed', 'body.timeout.action'],
    ['a timeout too short', { timeout: { seconds: 59, action: 'expire' } }, 400, 'validation_failed', 'body.timeout.seconds'],
    ['an approval by the clock', { timeout: { seconds: 60, action: 'auto_approve' } }, 403, 'timeout_action_not_allowed', 'timeout.action'],
    ['a wrong type', { payload: { subject: 1 } }, 400, 'payload_invalid', 'payload.subject'],
    ['a missing field', { payload: { recipients: 1 } }, 400, 'payload_invalid', 'payload.subject'],
    ['an unknown action', { actions: ['launch'] }, 400, 'action.unknown_action', 'actions'],
    ['a trace address in clear', { trace_url: 'http://trace.example/' }, 400, 'invalid_trace_url', 'trace_url'],
    ['a ftp callback', { callback_url: 'ftp://agent.example/' }, 400, 'validation_failed', 'body.callback_url'],
    ['monitoring', { oversight: 'monitoring' }, 400, 'feature_not_available', 'body.oversight'],
    [
      'a ladder',
      { assignment_ladder: [{ actor: 'a', trigger_after_seconds: 60 }] },
      400,
      'feature_not_available',
      'body.assignment_ladder',
    ],
    ['a chain', { definition: {} }, 400, 'feature_not_available', 'body.definition'],
    ['a timeout under the answer’s name', { timeout_seconds: 600 }, 400, 'validation_failed', 'body.timeout_seconds'],
    ['what time does under the answer’s name', { timeout_action: 'expire' }, 400, 'validation_failed', 'body.timeout_action'],
    ['an end under the answer’s name', { expires_at: '2026-12-01T00:00:00.000Z' }, 400, 'validation_failed', 'body.expires_at'],
    ['a blank field', { payload: { subject: ' \u200b\n' } }, 400, 'payload_invalid', 'payload.subject'],
    ['notes', { notes: [] }, 400, 'feature_not_available', 'body.notes'],
    ['a snooze', { snoozed_until: '2026-12-01T00:00:00.000Z' }, 400, 'feature_not_available', 'body.snoozed_until'],
  ])('for %s, and nothing is written', async (_what, body, status, code, param) => {
    const { position } = await server.store.head();
    const answer = await asking(body);
    expect([answer.status, answer.code, answer.body.error?.param]).toEqual([status, code, param]);
    expect((await server.store.head()).position).toBe(position);
  });
});
