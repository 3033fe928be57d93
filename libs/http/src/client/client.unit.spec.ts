import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Readable } from 'node:stream';
import { type Actor, type ErrorBody, operationOf } from '@countersign/contracts';
import { afterEach, describe, expect, it } from '@jest/globals';
import {
  checkAnswers,
  fillPath,
  findOperation,
  httpTransport,
  IDENTITY_HEADER,
  queryText,
  ServiceClient,
  verifyIdentity,
} from '../index.js';

const KEY = 'an identity key of at least thirty-two characters';
const actor: Actor = { kind: 'anonymous' };

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A service somewhere on the network: what a remote does, good or bad. */
async function remote(
  handle: (request: IncomingMessage, response: ServerResponse, nth: number) => void,
): Promise<{ client: ServiceClient; server: Server; count: () => number }> {
  let count = 0;
  const server = createServer((request, response) => handle(request, response, ++count));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const transport = httpTransport({ audit: [`http://127.0.0.1:${(server.address() as AddressInfo).port}/ignored`] });
  const client = new ServiceClient({ transport, identityKey: KEY });
  closing.push(
    () => new Promise((resolve) => server.close(resolve)),
    async () => server.closeAllConnections(),
    () => client.close(),
  );
  return { client, server, count: () => count };
}

const request = (changes: object = {}) => ({ method: 'GET', path: '/api/v1/reviews?limit=1', actor, request_id: 'request-1', ...changes });

describe('ServiceClient over HTTP', () => {
  it('reads the keys of an answer as they stand, whatever keys were read before', async () => {
    const texts = ['{"c1":1,"\\\\":1}', '{"c1":1,"\\\\":1}', '{"c1":1,"\\"":1}'];
    const { client } = await remote((_, response, nth) => void response.end(texts[nth - 1]));
    const bodies = [];
    for (const _ of texts) bodies.push((await client.call('audit', request())).body);
    expect(bodies).toEqual([
      { c1: 1, '\\': 1 },
      { c1: 1, '\\': 1 },
      { c1: 1, '"': 1 },
    ]);
  });

  it('C1 signs for the very request', async () => {
    const { client } = await remote((incoming, response) => {
      const chunks: Buffer[] = [];
      incoming
        .on('data', (chunk) => chunks.push(chunk))
        .on('end', () => {
          const identity = verifyIdentity(incoming.headers[IDENTITY_HEADER] as string, KEY, {
            aud: 'audit',
            method: 'POST',
            path: '/x?y=1',
            nowMs: Date.now(),
          });
          response
            .setHeader('x-custom', 'yes')
            .end(JSON.stringify({ identity, body: Buffer.concat(chunks).toString(), id: incoming.headers['x-request-id'] }));
        });
    });
    const before = Date.now();
    const answer = await client.call<Record<string, unknown>>('audit', request({ method: 'POST', path: '/x?y=1', body: { a: 'ü' } }));
    const { exp } = answer.body.identity as { exp: number };
    expect(exp).toBeGreaterThan(before);
    expect(exp - Date.now()).toBeLessThanOrEqual(60_000);
    expect(answer.headers['x-custom']).toBe('yes');
    expect(answer.body).toMatchObject({ body: '{"a":"ü"}', id: 'request-1', identity: { actor, request_id: 'request-1' } });
  });

  it('C2 sends a read again when the connection breaks, and a write not', async () => {
    const breaking = await remote((incoming, response, nth) => (nth < 3 ? incoming.socket.destroy() : response.end('{"ok":true}')));
    expect((await breaking.client.call('audit', request())).body).toEqual({ ok: true });
    const writing = await remote((incoming) => incoming.socket.destroy());
    await expect(writing.client.call('audit', request({ method: 'POST' }))).rejects.toMatchObject({
      code: 'service_unavailable',
      status: 503,
    });
    expect(writing.count()).toBe(1);
  });

  it('C2 tries a write again that cannot have arrived, and gives up with 503', async () => {
    const { client, server, count } = await remote(() => {});
    await new Promise((resolve) => server.close(resolve));
    await expect(client.call('audit', request({ method: 'POST' }))).rejects.toMatchObject({
      code: 'service_unavailable',
      options: { headers: { 'Retry-After': '1' } },
    });
    expect(count()).toBe(0);
  });

  it('C3 ends at the deadline, and the service hears of it', async () => {
    let left = () => {};
    const gone = new Promise<void>((resolve) => {
      left = resolve;
    });
    const { client } = await remote((incoming) => void incoming.on('close', left));
    await expect(client.call('audit', request({ deadlineMs: 50 }))).rejects.toMatchObject({ code: 'service_unavailable' });
    await gone;
  });

  it("C3 ends with the caller's own abort", async () => {
    const abort = new AbortController();
    const { client } = await remote(() => abort.abort(new Error('the caller left')));
    await expect(client.call('audit', request({ signal: abort.signal }))).rejects.toThrow('the caller left');
  });

  it('hands a long answer over as it comes', async () => {
    const { client } = await remote((_, response) => {
      response.write('one\n');
      setImmediate(() => response.end('two\n'));
    });
    const answer = await client.forward('audit', request({ stream: true }));
    const chunks: string[] = [];
    for await (const chunk of answer.body as Readable) chunks.push(String(chunk));
    expect(chunks.join('')).toBe('one\ntwo\n');
  });

  it('says which service has no address', async () => {
    const { client } = await remote(() => {});
    await expect(client.call('intake', request())).rejects.toMatchObject({ code: 'service_unavailable' });
  });
});

describe('checkAnswers', () => {
  const check = checkAnswers();
  const answer = (status: number, body: unknown) => ({ status, body: Buffer.from(body === undefined ? '' : JSON.stringify(body)) });
  const at = { service: 'directory' as const, method: 'POST', path: '/api/v1/auth/logout' };
  const error = (code: string): ErrorBody => ({ error: { type: 'not_found', code, message: 'x', doc_url: '/docs/errors#x' } }) as ErrorBody;

  it('lets through what the contract says, and routes it does not know', () => {
    check(at, answer(200, { ok: true }));
    check(at, answer(401, { error: { ...error('invalid_token').error, type: 'authentication_error' } }));
    check({ ...at, path: '/internal/ready' }, answer(200, 'anything'));
    check({ service: 'directory', method: 'DELETE', path: '/api/v1/auth/sessions/ses_1?x=1' }, answer(204, undefined));
    check(at, answer(304, undefined));
  });

  it.each([
    ['another body', answer(200, { ok: 'yes' })],
    ['a key too many', answer(200, { ok: true, secret: 1 })],
    ['another status', answer(201, { ok: true })],
    ['no body', answer(200, undefined)],
    ['a code that is not its own', answer(404, error('review_not_found'))],
    ['an error without its body', answer(401, { message: 'no' })],
  ])('C4 stops %s', (_, wrong) => {
    expect(() => check(at, wrong)).toThrow(/^logout of directory answered/);
  });
});

describe('operations by path', () => {
  it('are found, literal segments first', () => {
    expect(findOperation('GET', '/api/v1/audit/verify?from=1')?.id).toBe('verifyAudit');
    expect(findOperation('GET', '/api/v1/reviews/rev_1')?.id).toBe('getReview');
    expect(findOperation('POST', '/api/v1/templates/draft')?.id).toBe('createTemplateDraft');
    expect(findOperation('GET', '/api/v1/reviews/a/b/c')).toBeUndefined();
    expect(findOperation('PATCH', '/api/v1/reviews')).toBeUndefined();
  });

  it('are written with every character where it belongs', () => {
    expect(fillPath(operationOf('getReview').path, { id: 'a/b ü?' })).toBe('/api/v1/reviews/a%2Fb%20%C3%BC%3F');
    expect(queryText({ a: ['x', 'y'], b: undefined, c: 0, d: null, e: 'ü&' })).toBe('?a=x&a=y&c=0&e=%C3%BC%26');
    expect(queryText()).toBe('');
    expect(() => fillPath('/x/{id}')).toThrow('needs id');
  });
});
