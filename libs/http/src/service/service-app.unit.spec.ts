import { createLogger } from '@countersign/telemetry';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { createServiceApp, injectTransport, ServiceClient } from '../index.js';
import { ACTOR, KEY, NotesModule, TROUBLE } from '../notes.fixture.js';

describe('createServiceApp', () => {
  let app: NestFastifyApplication;
  let client: ServiceClient;
  const lines: Record<string, unknown>[] = [];
  const logger = createLogger({ service: 'intake', destination: { write: (line: string) => void lines.push(JSON.parse(line)) } });

  beforeAll(async () => {
    app = await createServiceApp(NotesModule, { service: 'intake', identityKey: KEY, logger });
    client = new ServiceClient({ transport: injectTransport(() => ({ intake: app })), identityKey: KEY });
  });
  afterAll(() => app.close());

  const call = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
    client.call<{ error: { code: string } }>('intake', { method, path, actor: ACTOR, request_id: 'request-1', body, headers });
  const send = (method: string, path: string, bytes: string | Buffer | undefined, contentType = 'application/json', path2 = path) => {
    const body = bytes === undefined ? undefined : Buffer.from(bytes);
    return client
      .forward('intake', {
        method,
        path: path2,
        actor: ACTOR,
        request_id: 'request-1',
        body,
        headers: contentType ? { 'content-type': contentType } : {},
      })
      .then((answer) => ({ ...answer, json: String(answer.body) === '' ? null : JSON.parse(String(answer.body)) }));
  };

  it('gives a controller the checked body and who calls', async () => {
    const answer = await call('POST', '/api/v1/notes', { text: 'hello', unknown: 1 });
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({ text: 'hello', by: ACTOR, request_id: 'request-1' });
    expect(answer.headers).toMatchObject({ 'countersign-seen': '42.7', 'x-request-id': 'request-1' });
  });

  it('reads query values by their schema and refuses what does not fit', async () => {
    expect((await call('GET', '/api/v1/notes?limit=5&tag=a')).body).toEqual({ query: { limit: 5, tag: ['a'] } });
    const refused = await call('GET', '/api/v1/notes?limit=101');
    expect(refused.status).toBe(400);
    expect(refused.body.error).toMatchObject({
      type: 'invalid_request',
      code: 'validation_failed',
      param: 'query.limit',
      details: [{ path: 'query.limit', code: 'too_big' }],
    });
  });

  it('takes no body for an empty one where the operation lets it be left out, and nowhere else', async () => {
    for (const body of [undefined, '']) {
      expect((await send('POST', '/api/v1/reviews/rev_1/withdraw', body)).json).toEqual({ body: {} });
      const { status, json } = await send('PUT', '/api/v1/templates/tpl_1', body);
      expect([status, json.error]).toMatchObject([400, { code: 'validation_failed', param: 'body', message: 'body is required.' }]);
    }
    expect((await send('PUT', '/api/v1/templates/tpl_1', '{}')).json).toEqual({ body: {} });
  });

  it('names every missing member', async () => {
    for (const body of [undefined, {}]) {
      const { status, body: reply } = await call('POST', '/api/v1/notes', body);
      expect(status).toBe(400);
      expect(reply.error).toMatchObject({
        code: 'validation_failed',
        param: 'body.text',
        doc_url: expect.stringContaining('validation_failed'),
      });
    }
    expect((await send('POST', '/api/v1/notes', '')).json.error.param).toBe('body.text');
    expect((await send('POST', '/api/v1/notes', '[]')).json.error).toMatchObject({ code: 'validation_failed', param: 'body' });
    expect((await send('POST', '/api/v1/notes', 'null')).json.error).toMatchObject({ code: 'validation_failed', param: 'body' });
  });

  it.each([
    ['malformed JSON', '{"text":', 'application/json', 400, 'invalid_json'],
    ['a key twice', '{"text":"a","text":"b"}', 'application/json', 400, 'json_duplicate_key'],
    ['__proto__', '{"text":"a","__proto__":{}}', 'application/json', 400, 'json_forbidden_key'],
    ['half UTF-8', Buffer.from([0x7b, 0xff]), 'application/json', 400, 'invalid_json'],
    ['another type', 'text=a', 'application/x-www-form-urlencoded', 415, 'unsupported_media_type'],
    ['no type', '{"text":"a"}', '', 415, 'unsupported_media_type'],
    ['another charset', '{"text":"a"}', 'application/json; charset=latin1', 415, 'unsupported_media_type'],
    ['more than 1 MB', `{"text":"${'a'.repeat(1_048_577)}"}`, 'application/json', 413, 'payload_too_large'],
  ])('refuses %s', async (_, body, type, status, code) => {
    const answer = await send('POST', '/api/v1/notes', body, type);
    expect([answer.status, answer.json.error.code]).toEqual([status, code]);
  });

  it.each(['application/json', 'application/json; charset=utf-8', 'APPLICATION/JSON;charset=UTF-8', 'application/merge-patch+json'])(
    'takes %s',
    async (type) => {
      expect((await send('POST', '/api/v1/notes', '{"text":"a"}', type)).status).toBe(201);
    },
  );

  it('answers refusals from the catalogue, with what goes beside the standard members', async () => {
    const { status, body } = await call('GET', '/api/v1/notes/refused');
    expect(status).toBe(409);
    expect(body).toEqual({
      error: {
        type: 'conflict',
        code: 'review_already_decided',
        message: 'Decided.',
        doc_url: expect.any(String),
        review: { id: 'rev_1' },
      },
    });
    expect((await call('GET', '/api/v1/notes/late')).headers['retry-after']).toBe('3');
  });

  it('tells nothing of a fault and logs it once with its cause', async () => {
    lines.length = 0;
    const { status, body } = await call('GET', '/api/v1/notes/boom');
    expect(status).toBe(500);
    expect(JSON.stringify(body)).not.toContain('hunter2');
    expect(lines).toEqual([
      expect.objectContaining({
        level: 'error',
        request_id: 'request-1',
        route: '/api/v1/notes/:id',
        err: expect.objectContaining({ message: 'the password is hunter2' }),
      }),
    ]);
    expect((await call('GET', '/api/v1/notes/odd')).status).toBe(500);
  });

  it('asks to come back when the database is not there', async () => {
    const { status, body, headers } = await call('GET', '/api/v1/notes/down');
    expect([status, body.error.code, headers['retry-after']]).toEqual([503, 'service_unavailable', '1']);
  });

  it.each([
    ['retryable', '8'],
    ['unavailable', '1'],
    ['busy', '1'],
    ['unknown', '60'],
    ['wrapped', '1'],
    ['wrapped-retryable', '3'],
    ['deadlock', '1'],
  ])('asks to come back after what passes (%s), and logs it as a warning with its cause', async (id, seconds) => {
    lines.length = 0;
    const { status, body, headers } = await call('GET', `/api/v1/notes/${id}`);
    expect([status, body.error.code, headers['retry-after']]).toEqual([503, 'service_unavailable', seconds]);
    expect(lines).toMatchObject([{ msg: 'request could not be served, retryable', err: { message: TROUBLE[id]?.message } }]);
  });

  it('answers unknown routes and wrong methods in JSON', async () => {
    expect((await call('GET', '/api/v1/nothing')).body).toMatchObject({ error: { code: 'route_not_found' } });
    const wrong = await call('PATCH', '/api/v1/notes/1');
    expect([wrong.status, wrong.body.error.code, wrong.headers.allow]).toEqual([405, 'method_not_allowed', 'GET, DELETE']);
    for (const method of ['GET', 'PATCH']) {
      for (const path of ['/api/v1/notes/', '/api/v1/notes//old']) {
        expect((await call(method, path)).body).toMatchObject({ error: { code: 'route_not_found' } });
      }
    }
    expect((await call('GET', '/api/v1/notes/%zz')).status).toBe(400);
    expect((await call('GET', `/api/v1/notes/${'a'.repeat(600)}`)).body).toMatchObject({ error: { code: 'uri_too_long' } });
  });

  it('sends an entity tag and answers 304 to it, but not to one who waits', async () => {
    const first = await call('GET', '/api/v1/notes/1');
    expect(first.headers.etag).toMatch(/^"[A-Za-z0-9_-]{27}"$/);
    expect(first.headers['cache-control']).toBe('private, no-cache');
    const again = await send('GET', '/api/v1/notes/1', undefined, '');
    expect(again.headers.etag).toBe(first.headers.etag);
    const etag = String(first.headers.etag);
    const same = await call('GET', '/api/v1/notes/1', undefined, { 'if-none-match': etag });
    expect([same.status, same.body, same.headers.etag]).toEqual([304, null, etag]);
    const other = await call('GET', '/api/v1/notes/2', undefined, { 'if-none-match': etag });
    expect(other.status).toBe(200);
    expect((await call('GET', '/api/v1/notes/1?wait=1', undefined, { 'if-none-match': etag })).status).toBe(200);
  });

  it('writes 204 for nothing and the headers of replays and deprecations', async () => {
    expect((await call('DELETE', '/api/v1/notes/1')).status).toBe(204);
    const old = await call('POST', '/api/v1/notes/1/old');
    expect(old.headers).toMatchObject({
      'idempotent-replay': 'true',
      deprecation: 'true',
      sunset: 'Wed, 01 Dec 2026 00:00:00 GMT',
      link: '</api/v1/notes>; rel="successor-version"',
    });
  });
});
