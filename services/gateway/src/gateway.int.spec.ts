import { connect } from 'node:net';
import { OPERATIONS } from '@countersign/contracts';
import { Problem, respond } from '@countersign/http';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { anAgent, aPerson, type Edge, startEdge } from './edge-fixture.js';
import { FORWARDED } from './forward.js';

const KEY = `gwk_${'a'.repeat(64)}`;
const SESSION = 'a-session-token';

let edge: Edge;
beforeAll(async () => {
  edge = await startEdge({
    HEADERS_TIMEOUT: '1s',
    REQUEST_TIMEOUT: '1500ms',
    UI_ORIGIN: 'https://inbox.example.com',
    SIGN_IN_ATTEMPTS: '3',
    SECURITY_CONTACT: 'mailto:sec@example.com',
  });
});
afterAll(() => edge.close());
afterEach(() => {
  edge.credentials.clear();
  edge.asked.length = 0;
  edge.lines.length = 0;
  edge.answer = () => ({});
  edge.checks = {};
});

const errorOf = async (response: Response) => {
  const { error } = (await response.json()) as { error: Record<string, unknown> };
  return [response.status, error.code];
};
const json = { 'content-type': 'application/json' };

describe('passing on', () => {
  it('P1 gives the service the exact bytes, the caller and the request id, and the caller the whole answer', async () => {
    const agent = anAgent();
    edge.credentials.set(KEY, agent);
    edge.answer = () => respond({ id: 'rev_1' }, { status: 201, seen: { position: 9, bucket: 2 }, headers: { link: '<x>' } });
    const response = await edge.fetch('/api/v1/reviews', {
      method: 'POST',
      key: KEY,
      headers: { ...json, 'x-request-id': 'request-42', 'idempotency-key': 'k-1', 'x-forwarded-for': '9.9.9.9' },
      body: '{ "template" : "t", "n": 1.0 }',
    });
    expect(response.status).toBe(201);
    expect(await response.json()).toEqual({ id: 'rev_1' });
    expect(Object.fromEntries(response.headers)).toMatchObject({ 'x-request-id': 'request-42', 'countersign-seen': '9.2', link: '<x>' });
    expect(edge.asked).toEqual([
      expect.objectContaining({
        service: 'intake',
        path: '/api/v1/reviews',
        body: { template: 't', n: 1 },
        caller: { actor: agent, request_id: 'request-42' },
        headers: expect.objectContaining({ 'idempotency-key': 'k-1', 'countersign-client-ip': '127.0.0.1' }),
      }),
    ]);
    expect(edge.asked[0]?.headers).not.toHaveProperty('authorization');
  });

  it('P3 takes the mark of a device to where people sign in, no other cookie, and brings every cookie back', async () => {
    edge.answer = () => respond({}, { headers: { 'set-cookie': ['a=1; Path=/', 'b=2; Path=/'] } });
    const cookie = 'countersign_device=csd_x-1; countersign_session=cst_x; other=1';
    const login = { method: 'POST', headers: { ...json, cookie, 'sec-fetch-site': 'same-origin' }, body: '{}' };
    const response = await edge.fetch('/api/v1/auth/login', login);
    expect(response.headers.getSetCookie()).toEqual(['a=1; Path=/', 'b=2; Path=/']);
    expect(edge.asked.at(-1)?.headers.cookie).toBe('countersign_device=csd_x-1');
    await edge.fetch('/api/v1/auth/login', { ...login, headers: { ...login.headers, cookie: 'countersign_device=a%0d%0ab' } });
    expect(edge.asked.at(-1)?.headers).not.toHaveProperty('cookie');
    edge.credentials.set(KEY, anAgent());
    await edge.fetch('/api/v1/reviews', { key: KEY, headers: { cookie } });
    expect(edge.asked.at(-1)?.headers).not.toHaveProperty('cookie');
  });

  it('makes a request id where the caller sent none that is acceptable', async () => {
    const response = await edge.fetch('/health', { headers: { 'x-request-id': 'short' } });
    expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  });

  it.each(['..', '%2e%2e', '%2E%2e', '.', '%2e'])('P2 finds nothing at %s, whatever a parser makes of it', async (id) => {
    edge.credentials.set(KEY, anAgent());
    const status = await rawRequest(
      `GET /api/v1/reviews/${id} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${KEY}\r\nConnection: close\r\n\r\n`,
    );
    expect(status).toMatch(/^HTTP\/1.1 404 /);
    expect(edge.asked).toEqual([]);
  });

  it.each(['a%2Fb', "it's", 'a b', 'ü', '%25', 'a?b', '!~*()|"<>'])('P2 passes the parameter %j on as it is', async (id) => {
    edge.credentials.set(KEY, anAgent());
    const sent = id === 'a%2Fb' || id === '%25' ? id : encodeURIComponent(id);
    const response = await edge.fetch(`/api/v1/reviews/${sent}?q=${encodeURIComponent(id)}&q='x'`, { key: KEY });
    expect(response.status).toBe(200);
    const { pathname, searchParams } = new URL(edge.asked[0]?.path ?? '', 'http://x');
    expect(decodeURIComponent(pathname.slice('/api/v1/reviews/'.length))).toBe(decodeURIComponent(sent));
    expect(searchParams.getAll('q')).toEqual([id, "'x'"]);
  });

  it('answers HEAD like GET without a body', async () => {
    edge.credentials.set(KEY, anAgent());
    const response = await edge.fetch('/api/v1/reviews', { method: 'HEAD', key: KEY });
    expect([response.status, await response.text(), edge.asked[0]?.method]).toEqual([200, '', 'GET']);
  });

  it('passes 304 and the entity tag through', async () => {
    edge.credentials.set(KEY, anAgent());
    edge.answer = () => ({ id: 'rev_1' });
    const first = await edge.fetch('/api/v1/reviews/rev_1', { key: KEY });
    const etag = first.headers.get('etag') ?? '';
    expect(etag).toMatch(/^"[\w-]{27}"$/);
    const again = await edge.fetch('/api/v1/reviews/rev_1', { key: KEY, headers: { 'if-none-match': etag } });
    expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag]);
  });

  it('passes refusals through and answers 503 for a service that is gone, without a detail', async () => {
    edge.credentials.set(KEY, anAgent());
    edge.answer = () => {
      throw new Problem('review_not_found');
    };
    expect(await errorOf(await edge.fetch('/api/v1/reviews/rev_1', { key: KEY }))).toEqual([404, 'review_not_found']);
    edge.answer = () => {
      throw Object.assign(new Error('connect ECONNREFUSED 10.0.0.7:5432'), { code: 'ECONNREFUSED' });
    };
    const gone = await edge.fetch('/api/v1/reviews/rev_1', { key: KEY });
    const text = await gone.text();
    expect([gone.status, gone.headers.get('retry-after')]).toEqual([503, '1']);
    expect(text).not.toContain('10.0.0.7');
  });

  it('P4 takes the request of a caller that left with it, and logs no fault', async () => {
    edge.credentials.set(KEY, anAgent());
    let arrived = () => {};
    const waiting = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    edge.answer = () => {
      arrived();
      return new Promise(() => {});
    };
    const leave = new AbortController();
    const request = edge.fetch('/api/v1/reviews/rev_1?wait=60', { key: KEY, signal: leave.signal });
    await waiting;
    leave.abort();
    await expect(request).rejects.toThrow();
    edge.answer = () => ({});
    await edge.fetch('/api/v1/reviews/rev_1', { key: KEY });
    expect(edge.lines).toEqual([]);
  });
});

it('P4 tells who waits to come again when the gateway stops, and does not wait for them', async () => {
  edge.credentials.set(KEY, anAgent());
  const sibling = await edge.sibling();
  const waiting = new Promise<void>((resolve) => {
    edge.answer = () => {
      resolve();
      return new Promise(() => {});
    };
  });
  const request = fetch(`${sibling.url}/api/v1/reviews/rev_1?wait=60`, { headers: { authorization: `Bearer ${KEY}` } });
  await waiting;
  await sibling.close();
  const response = await request;
  expect([response.headers.get('retry-after'), ...(await errorOf(response))]).toEqual(['1', 503, 'service_unavailable']);
});

it('believes the address a proxy names only when the proxy is one of ours', async () => {
  const behind = await startEdge({ TRUST_PROXY: '127.0.0.1' });
  for (const { edge: at, ip } of [
    { edge: behind, ip: '203.0.113.9' },
    { edge, ip: '127.0.0.1' },
  ]) {
    at.credentials.set(KEY, anAgent());
    await at.fetch('/api/v1/reviews', { key: KEY, headers: { 'x-forwarded-for': '198.51.100.1, 203.0.113.9' } });
    expect(at.asked.at(-1)?.headers['countersign-client-ip']).toBe(ip);
  }
  await behind.close();
});

describe('a credential sees its own writes in its next lists (K14)', () => {
  const seenBy = () => edge.asked.at(-1)?.headers['countersign-seen'];

  it('without doing anything, and for itself only', async () => {
    edge.credentials.set(KEY, anAgent()).set('gwk_b', anAgent());
    edge.answer = ({ method }) => (method === 'POST' ? respond({}, { status: 201, seen: { position: 12, bucket: 3 } }) : {});
    await edge.fetch('/api/v1/reviews', { key: KEY });
    expect(seenBy()).toBeUndefined();
    await edge.fetch('/api/v1/reviews', { method: 'POST', key: KEY, headers: json, body: '{}' });
    await edge.fetch('/api/v1/reviews', { key: KEY });
    expect(seenBy()).toBe('12.3');
    await edge.fetch('/api/v1/reviews', { key: 'gwk_b' });
    expect(seenBy()).toBeUndefined();
  });

  it('and what a client sends itself goes before', async () => {
    edge.credentials.set(KEY, anAgent());
    await edge.fetch('/api/v1/reviews', { key: KEY, headers: { 'countersign-seen': '99.1' } });
    expect(seenBy()).toBe('99.1');
  });
});

describe('routes that are none', () => {
  it.each([
    ['an unknown API route, to a stranger', '/api/v1/nothing', {}, 401, 'missing_credentials'],
    ['an unknown API route, to a caller', '/api/v1/nothing', { key: KEY }, 404, 'route_not_found'],
    ['an unknown page', '/nothing', {}, 404, 'route_not_found'],
    ['an internal route', '/internal/ready', {}, 404, 'route_not_found'],
    ['a method the route has not', '/api/v1/reviews', { method: 'PATCH' }, 405, 'method_not_allowed'],
    ['a method nobody has', '/api/v1/reviews', { method: 'PROPFIND' }, 405, 'method_not_allowed'],
    ['a malformed address', '/api/v1/reviews/%zz', { key: KEY }, 400, 'invalid_request'],
    ['an address that is too long', `/api/v1/reviews/${'a'.repeat(5_000)}`, { key: KEY }, 414, 'uri_too_long'],
  ])('answers %s in JSON', async (_, path, init, status, code) => {
    const response = await edge.fetch(path, init);
    expect(response.headers.get('content-type')).toContain('application/json');
    expect(await errorOf(response)).toEqual([status, code]);
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
    const answer = await rawRequest(bytes);
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

describe('what the station says about itself', () => {
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
  });

  it('says in one sentence that the inbox is not built', async () => {
    for (const path of ['/', '/login', '/reviews/rev_1']) {
      const response = await edge.fetch(path);
      expect([response.status, await response.text()]).toEqual([503, expect.stringContaining('npm run build')]);
    }
  });
});

describe('browsers', () => {
  it('are told to run nothing that stands in a page, and to frame nothing', async () => {
    const { headers } = await edge.fetch('/health');
    expect(headers.get('content-security-policy')).toContain("script-src 'self';");
    expect(headers.get('content-security-policy')).not.toContain('unsafe');
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('strict-transport-security')).toContain('max-age');
  });

  it('may call from the one other origin, and from no third', async () => {
    const preflight = (origin: string) =>
      edge.fetch('/api/v1/reviews', { method: 'OPTIONS', headers: { origin, 'access-control-request-method': 'POST' } });
    const allowed = await preflight('https://inbox.example.com');
    expect([allowed.status, allowed.headers.get('access-control-allow-origin')]).toEqual([204, 'https://inbox.example.com']);
    expect(allowed.headers.get('access-control-allow-credentials')).toBe('true');
    const third = await preflight('https://evil.example.com');
    expect([third.status, third.headers.get('access-control-allow-origin')]).toEqual([405, null]);
    edge.credentials.set(KEY, anAgent());
    const refused = await edge.fetch('/api/v1/reviews', { headers: { origin: 'https://inbox.example.com' } });
    expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([401, 'https://inbox.example.com']);
  });

  it('A3 cannot be made to act for their person by another site', async () => {
    const person = aPerson();
    edge.credentials.set(SESSION, person);
    const act = (headers: Record<string, string>) =>
      edge.fetch('/api/v1/reviews/rev_1/claim', {
        method: 'POST',
        headers: { cookie: `theme=x; countersign_session=${SESSION}`, ...headers },
      });
    const host = edge.url.replace('http://', '');
    expect((await act({ 'sec-fetch-site': 'same-origin' })).status).toBe(200);
    expect((await act({ origin: `http://${host}` })).status).toBe(200);
    expect((await act({ origin: 'https://inbox.example.com', 'sec-fetch-site': 'cross-site' })).status).toBe(200);
    for (const headers of [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { origin: 'https://evil.example.com' },
      { origin: 'null' },
      {},
    ]) {
      expect(await errorOf(await act(headers as Record<string, string>))).toEqual([403, 'csrf_failed']);
    }
    expect(
      (await edge.fetch('/api/v1/reviews', { headers: { cookie: `countersign_session=${SESSION}`, 'sec-fetch-site': 'cross-site' } }))
        .status,
    ).toBe(200);
    const login = { method: 'POST', headers: { ...json, 'sec-fetch-site': 'cross-site' }, body: '{}' };
    expect(await errorOf(await edge.fetch('/api/v1/auth/login', login))).toEqual([403, 'csrf_failed']);
    expect((await edge.fetch('/api/v1/auth/login', { ...login, headers: json })).status).toBe(200);
  });
});

describe('guessing', () => {
  it('is stopped for an address after some failures, and success is not counted', async () => {
    const login = () => edge.fetch('/api/v1/auth/login', { method: 'POST', headers: json, body: '{}' });
    edge.answer = () => ({ token: 'x' });
    for (let i = 0; i < 5; i++) expect((await login()).status).toBe(200);
    edge.answer = () => {
      throw new Problem('invalid_credentials');
    };
    const answers = await Promise.all(Array.from({ length: 8 }, login));
    expect(answers.map(({ status }) => status).sort()).toEqual([401, 401, 401, 429, 429, 429, 429, 429]);
    const stopped = answers.find(({ status }) => status === 429) as Response;
    expect(Number(stopped.headers.get('retry-after'))).toBeGreaterThan(800);
    expect((await errorOf(stopped))[1]).toBe('too_many_attempts');
    expect(edge.asked).toHaveLength(5 + 3);
    expect((await edge.fetch('/health')).status).toBe(200);
  });
});

/** Everything the server answers to these bytes until it closes. */
function rawRequest(bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(Number(new URL(edge.url).port), '127.0.0.1', () => socket.write(bytes));
    socket.setEncoding('utf8').on('data', (text) => {
      answer += text;
    });
    socket.on('close', () => resolve(answer)).on('error', reject);
  });
}
