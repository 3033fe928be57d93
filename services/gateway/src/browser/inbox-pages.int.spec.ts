import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Edge, startEdge } from '../fixture/edge.js';

describe('the inbox', () => {
  let edge: Edge;
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'inbox-'));
    await mkdir(join(directory, 'assets'));
    await writeFile(join(directory, 'index.html'), '<!doctype html><script type="module" src="/assets/index-1a2b.js"></script>');
    await writeFile(join(directory, 'assets', 'index-1a2b.js'), 'export {};');
    await writeFile(join(directory, 'favicon.svg'), '<svg/>');
    edge = await startEdge({}, { inboxDirectory: directory });
  });
  afterAll(async () => {
    await edge.close();
    await rm(directory, { recursive: true });
  });

  it.each(['/', '/login', '/login?return_to=/reviews/rev_1', '/reviews/rev_1', '/reviews/a/b', '/invite'])(
    'is one page at %s',
    async (path) => {
      const response = await edge.fetch(path);
      expect([response.status, response.headers.get('content-type'), response.headers.get('cache-control')]).toEqual([
        200,
        'text/html; charset=utf-8',
        'no-cache',
      ]);
      expect(await response.text()).toContain('<!doctype html>');
      expect(response.headers.get('content-security-policy')).toContain("script-src 'self';");
    },
  );

  it('keeps files that are named by their content for a year, and others not', async () => {
    const script = await edge.fetch('/assets/index-1a2b.js');
    expect([script.status, script.headers.get('cache-control')]).toEqual([200, 'public, max-age=31536000, immutable']);
    expect(script.headers.get('content-type')).toContain('javascript');
    expect((await edge.fetch('/favicon.svg')).headers.get('cache-control')).toBe('no-cache');
  });

  it.each(['/assets/none.js', '/assets/%2e%2e/%2e%2e/etc/passwd', '/index', '/reviewsx'])('has nothing at %s', async (path) => {
    const response = await fetch(`${edge.url}${path}`);
    expect([response.status, ((await response.json()) as { error: { code: string } }).error.code]).toEqual([404, 'route_not_found']);
  });

  it('says on a page that an address leads nowhere, to browsers alone', async () => {
    const html = 'text/html,application/xhtml+xml,*/*;q=0.8';
    const page = await edge.fetch('/nope', { headers: { accept: html } });
    expect([page.status, page.headers.get('content-type'), page.headers.get('cache-control')]).toEqual([
      404,
      'text/html; charset=utf-8',
      'no-cache',
    ]);
    expect(await page.text()).toContain('<!doctype html>');
    for (const [path, init] of [
      ['/nope', { headers: { accept: 'application/json' } }],
      ['/nope', { method: 'POST', headers: { accept: html } }],
      ['/api/v1/nope', { headers: { accept: html } }],
    ] as const) {
      const answer = await edge.fetch(path, init);
      expect([answer.status >= 400, answer.headers.get('content-type')]).toEqual([true, expect.stringContaining('application/json')]);
    }
  });
});
