/** What an agent sends is shown and never run; what the page may do is bounded by the Content Security Policy. */
import { beforeAll, describe, expect, it } from '@jest/globals';
import { inboxTest } from './inbox-test.js';

const { server, chromium } = inboxTest();

const ATTACKS = [
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '"><svg onload=alert(1)>',
  "javascript:alert('x')",
  '{{constructor.constructor("alert(1)")()}}',
  '<iframe srcdoc="<script>parent.alert(1)</script>"></iframe>',
  '<style>* { display: none }</style>',
  '<base href="https://evil.example/">',
  '<meta http-equiv="refresh" content="0;url=https://evil.example/">',
  '<form action="https://evil.example/"><button>go</button></form>',
];
const EVIL = ATTACKS.join('\n');
const MARKDOWN = [
  EVIL,
  '[click](javascript:alert(1)) [data](data:text/html,<script>alert(1)</script>) [vb](vbscript:x)',
  '![pixel](https://evil.example/pixel.png) ![bad](javascript:alert(1)) ![svg](data:image/svg+xml;base64,PHN2Zy8+)',
  '[ref]: javascript:alert(1)',
  '[ref]',
].join('\n\n');

beforeAll(async () => {
  await server.publish({
    slug: 'evil',
    name: `Evil ${ATTACKS[1]}`,
    instructions: EVIL,
    fields: [
      { name: 'subject', type: 'text', label: `Subject ${ATTACKS[0]}`, editable: true },
      { name: 'plain', type: 'text', label: `Plain ${ATTACKS[2]}` },
      { name: 'body', type: 'markdown', label: 'Body' },
      { name: 'data', type: 'json', label: 'Data' },
      { name: 'choice', type: 'buttons', label: 'Choice' },
      { name: 'pick', type: 'select', label: 'Pick', options: ATTACKS, editable: true },
    ],
    actions: ['approve', 'reject', { id: 'odd', label: `Odd ${ATTACKS[1]}`, kind: 'side_effect', description: EVIL }],
  });
});

const payload = {
  subject: EVIL,
  plain: EVIL,
  body: MARKDOWN,
  data: { [ATTACKS[1] as string]: ATTACKS },
  choice: ATTACKS[0],
  pick: ATTACKS[1],
  [ATTACKS[2] as string]: EVIL,
};

describe('an agent that attacks', () => {
  it('is shown as it wrote, in the list and on the page, and runs nothing', async () => {
    const { id } = await server.ask('evil', payload);
    const page = await chromium.pageOf(server.admin);
    await page.goto('/');
    await page.getByRole('link', { name: /<script>alert\(1\)<\/script>/ }).click();
    await page.locator('.action-bar').waitFor();
    await page.locator('.prose').first().waitFor();
    // The page has drawn everything. That nothing runs shows only when some time has passed in which it could.
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 100))));
    expect(await page.locator('.fields .prose').textContent()).toContain('<script>alert(1)</script>');
    expect(await page.locator('main').locator('script, iframe, style, form, base, meta, svg, [onerror], [onload]').count()).toBe(0);
    const hrefs = await page.locator('main a').evaluateAll((links) => links.map((link) => (link as HTMLAnchorElement).protocol));
    expect([...new Set(hrefs)].every((protocol) => ['http:', 'https:', 'mailto:'].includes(protocol))).toBe(true);
    expect(await page.locator('main img').count()).toBe(0);
    expect(new URL(page.url()).pathname).toBe(`/reviews/${id}`);
  });

  it('does not get its words run when they come back as feedback, outcome or versions', async () => {
    const { id } = await server.ask('evil', payload);
    await server.act(id, 'request_changes', { feedback: EVIL });
    await server.resubmit(id, { ...payload, subject: `${EVIL} again`, plain: '' });
    const page = await chromium.pageOf(server.admin);
    await page.goto(`/reviews/${id}`);
    await page.locator('.version').first().waitFor();
    expect(await page.locator('.versions').textContent()).toContain('<img src=x onerror=alert(1)>');
    await server.act(id, 'reject', { feedback: EVIL });
    await page.locator('.outcome').waitFor();
    expect(await page.locator('.outcome').textContent()).toContain('<script>alert(1)</script>');
    expect(await page.locator('main').locator('script, iframe, style, form, [onerror]').count()).toBe(0);
  });

  it('cannot hide direction overrides and zero-width characters', async () => {
    const { id } = await server.askEmail('Pay \u202e001 to pay\u200bpal');
    const page = await chromium.pageOf(server.admin);
    await page.goto(`/reviews/${id}`);
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Pay U+202E001 to payU+200Bpal');
    await page.getByText('Contains invisible characters: U+202E, U+200B').waitFor();
  });
});

describe('the page', () => {
  it('comes with a policy that lets nothing inline run, and keeps to it', async () => {
    const page = await chromium.pageOf(server.admin);
    const answer = await page.goto('/');
    const policy = answer?.headers()['content-security-policy'] ?? '';
    expect(policy).toContain("script-src 'self'");
    expect(policy).toContain("style-src 'self'");
    expect(policy).not.toContain('unsafe');
    const html = (await answer?.text()) ?? '';
    expect(html).not.toMatch(/<script(?![^>]* src=)|<style| style=| on[a-z]+=/);
    // The policy works at all: the same markup, put there by hand, is refused.
    const refused = await page.evaluate(
      () =>
        new Promise<string>((resolve) => {
          document.addEventListener('securitypolicyviolation', (event) => resolve(event.effectiveDirective), { once: true });
          const script = document.createElement('script');
          script.textContent = 'window.ran = true';
          document.body.append(script);
        }),
    );
    expect(refused).toMatch(/^script-src/);
    expect(await page.evaluate(() => 'ran' in window)).toBe(false);
    // That breach was ours.
    expect(chromium.faults.splice(0)).toEqual([expect.stringContaining('Content Security Policy')]);
  });

  it('carries no validator, and is quick to load', async () => {
    const page = await chromium.pageOf(server.admin);
    const sizes: Record<string, number> = {};
    page.on('response', async (response) => {
      if (new URL(response.url()).pathname.endsWith('.js')) {
        const text = await response.text();
        sizes[response.url()] = text.length;
        expect(text).not.toMatch(/typebox|\bajv\b/i);
      }
    });
    await page.goto('/');
    await page.getByRole('heading', { level: 1 }).waitFor({ state: 'attached' });
    const total = Object.values(sizes).reduce((sum, size) => sum + size, 0);
    expect(total).toBeGreaterThan(0);
    expect(total).toBeLessThan(400_000);
  });
});
