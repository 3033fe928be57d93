import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { anAgent, aPerson, type Edge, errorOf, startEdge } from '../fixture/edge.js';

const KEY = `gwk_${'a'.repeat(64)}`;
const SESSION = 'a-session-token';
const json = { 'content-type': 'application/json' };

let edge: Edge;
beforeAll(async () => {
  edge = await startEdge({ UI_ORIGIN: 'https://inbox.example.com' });
});
afterAll(() => edge.close());
afterEach(() => edge.reset());

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
