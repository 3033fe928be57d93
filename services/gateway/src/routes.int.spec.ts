import { connect } from 'node:net';
import { OPERATIONS } from '@countersign/contracts';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { anAgent, type Edge, errorOf, rawRequest, startEdge } from './fixture/edge.js';
import { FORWARDED } from './forward/forward.js';

const KEY = `gwk_${'a'.repeat(64)}`;
const json = { 'content-type': 'application/json' };

let edge: Edge;
beforeAll(async () => {
  edge = await startEdge({ HEADERS_TIMEOUT: '1s', REQUEST_TIMEOUT: '1500ms', SECURITY_CONTACT: 'mailto:sec@example.com' });
});
afterAll(() => edge.close());
afterEach(() => edge.reset());

describe('routes that are none', () => {
  it.each([
    ['an unknown API route, to a stranger', '/api/v1/nothing', {}, 401, 'missing_credentials'],
    ['an unknown API route, to a caller', '/api/v1/nothing', { key: KEY }, 404, 'route_not_found'],
    ['an unknown page', '/nothing', {}, 404, 'route_not_found'],
    ['an internal route', '/internal/ready', {}, 404, 'route_not_found'],
    ['a method the route has not', '/api/v1/reviews', { method: 'PATCH' }, 405, 'method_not_allowed'],
    ['a method nobody has', '/api/v1/reviews', { method: 'PROPFIND' }, 405, 'method_not_allowed'],
    ['a malformed address', '/api/v1/reviews/%zz', { key: KEY }, 400, 'invalid_request'],
    ['NUL in a path', '/api/v1/reviews/%00', { key: KEY }, 400, 'invalid_request'],
    ['NUL in a query', '/api/v1/reviews?template=a%00b', { key: KEY }, 400, 'invalid_request'],
    ['an address that is too long', `/api/v1/reviews/${'a'.repeat(5_000)}`, { key: KEY }, 414, 'uri_too_long'],
  ])('answers %s in JSON', async (_, path, init, status, code) => {
    const response = await edge.fetch(path, init);
    expect(response.headers.get('content-type')).toContain('application/json');
    expect(await errorOf(response)).toEqual([status, code]);
  });

  it.each([
    ['one with others', '/api/v1/reviews?limit=5&statu=pending', 'query.statu'],
    ['one without any', '/api/v1/templates?slug=mail', 'query.slug'],
    ['one that is public, and of its own', '/api/v1?verbose=1', 'query.verbose'],
    ['a name every object has', '/api/v1/reviews?constructor=1', 'query.constructor'],
  ])('refuses a parameter the operation does not have: %s', async (_, path, param) => {
    edge.credentials.set(KEY, anAgent());
    const response = await edge.fetch(path, { key: KEY });
    const { error } = (await response.json()) as { error: { code: string; param: string; details: unknown } };
    expect([response.status, error.code, error.param]).toEqual([400, 'validation_failed', param]);
    expect(error.details).toEqual([{ path: param, message: 'is not a known parameter', code: 'unrecognized_keys' }]);
    expect(edge.asked).toEqual([]);
  });

  it('does not begin a stream, nor use up a ticket, for who asks for its head', async () => {
    const response = await edge.fetch(`/api/v1/events/stream?ticket=${'0'.repeat(48)}`, { method: 'HEAD' });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET']);
  });

  it('has a route for every operation of the table', () => {
    const fastify = edge.app.getHttpAdapter().getInstance();
    for (const { method, path } of OPERATIONS) {
      expect([path, fastify.findRoute({ method, url: path.replaceAll(/[{}]/g, '') })]).toEqual([path, expect.anything()]);
    }
    expect(FORWARDED.length).toBeGreaterThan(40);
  });
});

describe('bytes that are no request', () => {
  it.each([
    ['not HTTP', 'hello\r\n\r\n', 400, 'invalid_request'],
    ['headers without end', `GET / HTTP/1.1\r\nHost: x\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`, 431, 'headers_too_large'],
    ['a length that is none', 'POST /api/v1/auth/login HTTP/1.1\r\nHost: x\r\nContent-Length: abc\r\n\r\n', 400, 'invalid_request'],
    [
      'two lengths',
      'POST /api/v1/auth/login HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
      400,
      'invalid_request',
    ],
    ['headers that do not come', 'GET / HTTP/1.1\r\nHost: x\r\n', 408, 'request_timeout'],
    [
      'a body that does not come',
      'POST /api/v1/auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{',
      408,
      'request_timeout',
    ],
  ])('are told so in JSON: %s', async (_, bytes, status, code) => {
    const answer = await rawRequest(edge.url, bytes);
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n'))).error.code).toBe(code);
    expect(edge.asked).toEqual([]);
  });

  it('and a body cut in the middle is stored nowhere and logged as no fault', async () => {
    edge.credentials.set(KEY, anAgent());
    await new Promise<void>((resolve) => {
      const socket = connect(Number(new URL(edge.url).port), '127.0.0.1', () => {
        socket.write(
          `POST /api/v1/reviews HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${KEY}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"a`,
          () => socket.destroy(),
        );
      });
      socket.on('close', () => resolve());
    });
    await edge.fetch('/api/v1/reviews', { key: KEY });
    expect(edge.asked.map(({ method }) => method)).toEqual(['GET']);
    expect(edge.lines.filter(({ level }) => level === 'error')).toEqual([]);
  });

  it.each([1_048_577, 20_000_000])('a body of %d bytes is too large', async (size) => {
    edge.credentials.set(KEY, anAgent());
    const response = await edge.fetch('/api/v1/reviews', { method: 'POST', key: KEY, headers: json, body: Buffer.alloc(size, 0x20) });
    expect(await errorOf(response)).toEqual([413, 'payload_too_large']);
    expect(edge.asked).toEqual([]);
  });
});

describe('what the server says about itself', () => {
  it('names no contact for vulnerabilities until one is configured', async () => {
    const silent = await startEdge();
    try {
      expect(await errorOf(await silent.fetch('/.well-known/security.txt'))).toEqual([404, 'route_not_found']);
    } finally {
      await silent.close();
    }
  });

  it('health, API, errors, security, and its own description', async () => {
    expect(await (await edge.fetch('/health')).json()).toEqual({ status: 'ok', timestamp: expect.any(String) });
    expect(await (await edge.fetch('/api/v1')).json()).toEqual({
      version: '1',
      protocol: 'HRP/1.0',
      name: 'Countersign',
      mode: 'all-in-one',
    });
    expect(await (await edge.fetch('/docs/errors')).text()).toContain('id="json_duplicate_key"');
    expect(await (await edge.fetch('/.well-known/security.txt')).text()).toMatch(/^Contact: mailto:sec@example.com\nExpires: /);
    const description = (await (await edge.fetch('/api/v1/openapi.json')).json()) as { openapi: string; paths: object };
    expect(description.openapi).toBe('3.1.0');
    expect(Object.keys(description.paths)).toContain('/api/v1/reviews/{id}/redeem');
  });

  it('is ready when all are, degraded when one can do without something, and not ready without a service', async () => {
    const ready = async () => {
      const response = await edge.fetch('/health/ready');
      return [response.status, await response.json()];
    };
    expect(await ready()).toEqual([
      200,
      { status: 'ready', timestamp: expect.any(String), checks: expect.objectContaining({ database: { ok: true }, audit: { ok: true } }) },
    ]);
    edge.checks = { audit: { kafka: { ok: false, required: false, detail: 'no broker' } } };
    expect(await ready()).toEqual([
      200,
      expect.objectContaining({
        status: 'degraded',
        checks: expect.objectContaining({ audit: { ok: false, detail: 'kafka: no broker' } }),
      }),
    ]);
    edge.checks = { audit: { store: { ok: false } } };
    expect(await ready()).toEqual([
      503,
      expect.objectContaining({ status: 'degraded', checks: expect.objectContaining({ audit: { ok: false, detail: 'store' } }) }),
    ]);
    edge.checks = { gateway: { process: { ok: false, detail: 'Stopping.' }, bus: { ok: true, required: false } } };
    expect(await ready()).toEqual([
      503,
      expect.objectContaining({ checks: expect.objectContaining({ process: { ok: false, detail: 'Stopping.' }, bus: { ok: true } }) }),
    ]);
    edge.checks = { gateway: { bus: { ok: false, required: false } } };
    expect((await ready())[0]).toBe(200);
  });

  it('says in one sentence that the inbox is not built', async () => {
    for (const path of ['/', '/login', '/reviews/rev_1']) {
      const response = await edge.fetch(path);
      expect([response.status, await response.text()]).toEqual([503, expect.stringContaining('npm run build')]);
    }
  });
});
