import { type AgentActor, ReviewWithdraw, TemplateUpdate, Type } from '@countersign/contracts';
import { createLogger } from '@countersign/telemetry';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Body, Controller, Delete, Get, Module, Param, Post, Put, Query } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import {
  type CallerIdentity,
  contract,
  createServiceApp,
  IDENTITY_HEADER,
  Identity,
  injectTransport,
  Problem,
  problemOf,
  type Reply,
  respond,
  ServiceClient,
  signIdentity,
} from './index.js';

const KEY = 'an identity key of at least thirty-two characters';
const ACTOR: AgentActor = {
  kind: 'agent',
  key_id: 'key_1',
  key_prefix: 'gwk_12345678',
  name: 'Ünïcode 🤖',
  project_id: 'prj_1',
  scopes: ['reviews:read'],
  template_ids: null,
  owner: null,
  contact: null,
  default_reviewer: null,
  rate_limit_per_hour: null,
};

const Note = Type.Object({ text: Type.String({ minLength: 1 }), tags: Type.Optional(Type.Array(Type.String())) });
const NoteQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
  tag: Type.Optional(Type.Array(Type.String())),
});

@Controller('api/v1/notes')
class NotesController {
  @Post()
  create(@Body(contract(Note)) body: { text: string }, @Identity() caller: CallerIdentity): Reply<unknown> {
    return respond(
      { ...body, by: caller.actor, request_id: caller.request_id },
      { status: 201, seen: { position: 42, events: [{ bucket: 7 }] } },
    );
  }
  @Get()
  list(@Query(contract(NoteQuery)) query: object) {
    return { query };
  }
  @Get(':id')
  get(@Param('id') id: string) {
    if (id === 'refused') throw problemOf({ code: 'review_already_decided', message: 'Decided.', extra: { review: { id: 'rev_1' } } });
    if (id === 'boom') throw new Error('the password is hunter2');
    if (id === 'down') throw Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
    if (id === 'late') throw new Problem('rate_limit_exceeded', undefined, { headers: { 'Retry-After': '3' } });
    if (id === 'odd') throw problemOf({ code: 'no_such_code', message: 'x' });
    return { id };
  }
  @Delete(':id')
  remove(): void {}
  @Post(':id/old')
  old() {
    return respond({ ok: true }, { replayed: true, deprecated: { successor: '/api/v1/notes', sunset: 'Wed, 01 Dec 2026 00:00:00 GMT' } });
  }
}

/** Operations of the table, whose body may be left out, and may not. */
@Controller('api/v1')
class OptionalController {
  @Post('reviews/:id/withdraw')
  withdraw(@Body(contract(ReviewWithdraw)) body: ReviewWithdraw) {
    return { body };
  }
  @Put('templates/:id')
  update(@Body(contract(TemplateUpdate)) body: TemplateUpdate) {
    return { body };
  }
}

@Module({ controllers: [NotesController, OptionalController] })
class NotesModule {}

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
        path: '/api/v1/notes/boom',
        err: expect.objectContaining({ message: 'the password is hunter2' }),
      }),
    ]);
    expect((await call('GET', '/api/v1/notes/odd')).status).toBe(500);
  });

  it('asks to come back when the database is not there', async () => {
    const { status, body, headers } = await call('GET', '/api/v1/notes/down');
    expect([status, body.error.code, headers['retry-after']]).toEqual([503, 'service_unavailable', '1']);
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

  describe('the guard', () => {
    const identity = (changes: object = {}) => ({
      actor: ACTOR,
      aud: 'intake',
      method: 'GET',
      path: '/api/v1/notes/1',
      body_sha256: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
      request_id: 'request-1',
      exp: Date.now() + 10_000,
      ...changes,
    });
    const get = async (header: string | undefined, path = '/api/v1/notes/1') =>
      (await app.inject({ method: 'GET', url: path, headers: header === undefined ? {} : { [IDENTITY_HEADER]: header } })).statusCode;

    it('I1 answers nobody without the signature, not even that a route is unknown', async () => {
      expect(await get(signIdentity(identity(), KEY))).toBe(200);
      expect(await get(undefined)).toBe(401);
      expect(await get(undefined, '/api/v1/nothing')).toBe(401);
      expect(await get(undefined, '/internal/ready')).toBe(401);
      expect(await get('')).toBe(401);
      expect(await get('a.b')).toBe(401);
      expect(await get(signIdentity(identity(), 'another key'))).toBe(401);
      expect(await get(`${signIdentity(identity(), KEY)}.x`)).toBe(401);
      expect(await get(`x${signIdentity(identity(), KEY)}`)).toBe(401);
      const [payload] = signIdentity(identity(), KEY).split('.');
      expect(await get(`${payload}.`)).toBe(401);
    });

    it.each([
      ['service', { aud: 'decisions' }],
      ['method', { method: 'POST' }],
      ['path', { path: '/api/v1/notes/2' }],
      ['query', { path: '/api/v1/notes/1?all=true' }],
      ['time', { exp: Date.now() - 1 }],
      ['body', { body_sha256: 'f'.repeat(64) }],
    ])('I2 refuses an identity for another %s', async (_, changes) => {
      expect(await get(signIdentity(identity(changes), KEY))).toBe(401);
    });

    it('I2 refuses another body before it is read as JSON', async () => {
      const header = signIdentity(identity({ method: 'POST', path: '/api/v1/notes' }), KEY);
      const answer = await app.inject({
        method: 'POST',
        url: '/api/v1/notes',
        headers: { [IDENTITY_HEADER]: header, 'content-type': 'application/json' },
        payload: '{nonsense',
      });
      expect(answer.statusCode).toBe(401);
    });

    it('lets probes ask whether it is up', async () => {
      expect(await get(undefined, '/health')).toBe(200);
      expect(await get(undefined, '/health/ready')).toBe(200);
      expect(await get(signIdentity(identity({ path: '/internal/ready' }), KEY), '/internal/ready')).toBe(200);
    });
  });
});
