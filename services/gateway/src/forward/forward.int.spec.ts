import { Problem, respond } from '@countersign/http';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { anAgent, type Edge, errorOf, rawRequest, startEdge } from '../fixture/edge.js';

const KEY = `gwk_${'a'.repeat(64)}`;
const json = { 'content-type': 'application/json' };

let edge: Edge;
beforeAll(async () => {
  edge = await startEdge();
});
afterAll(() => edge.close());
afterEach(() => edge.reset());

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

  it('P1 refuses a coding of the body, which nobody behind it would read', async () => {
    edge.credentials.set(KEY, anAgent());
    for (const [coding, outcome] of [
      ['gzip', [415, 'unsupported_media_type']],
      ['identity, br', [415, 'unsupported_media_type']],
      ['identity', [200, undefined]],
    ] as const) {
      edge.answer = () => respond({ error: {} });
      const headers = { ...json, 'content-encoding': coding };
      const response = await edge.fetch('/api/v1/reviews', { method: 'POST', key: KEY, headers, body: '{}' });
      expect([coding, await errorOf(response)]).toEqual([coding, outcome]);
    }
    expect(edge.asked).toHaveLength(1);
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
      edge.url,
      `GET /api/v1/reviews/${id} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${KEY}\r\nConnection: close\r\n\r\n`,
    );
    expect(status).toMatch(/^HTTP\/1.1 404 /);
    expect(edge.asked).toEqual([]);
  });

  it.each(['a%2Fb', "it's", 'a b', 'ü', '%25', 'a?b', '!~*()|"<>'])('P2 passes the parameter %j on as it is', async (id) => {
    edge.credentials.set(KEY, anAgent());
    const sent = id === 'a%2Fb' || id === '%25' ? id : encodeURIComponent(id);
    const found = await edge.fetch(`/api/v1/reviews/${sent}`, { key: KEY });
    const listed = await edge.fetch(`/api/v1/reviews?template=${encodeURIComponent(id)}&template='x'`, { key: KEY });
    expect([found.status, listed.status]).toEqual([200, 200]);
    const [{ pathname }, { searchParams }] = edge.asked.map(({ path }) => new URL(path, 'http://x')) as [URL, URL];
    expect(decodeURIComponent(pathname.slice('/api/v1/reviews/'.length))).toBe(decodeURIComponent(sent));
    expect(searchParams.getAll('template')).toEqual([id, "'x'"]);
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
