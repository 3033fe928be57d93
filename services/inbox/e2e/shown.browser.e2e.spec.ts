/** A person sees exactly what they approve, whatever an agent does to have them see something else. */
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { DESKTOP, PHONE } from './browser.js';
import { eventually, inboxTest } from './inbox-test.js';

const { server, chromium } = inboxTest();

beforeAll(async () => {
  const fields = (editable: boolean) => [
    { name: 'title', type: 'text' as const, label: 'Title', editable },
    { name: 'body', type: 'markdown' as const, label: 'Body', editable },
    { name: 'page', type: 'url' as const, label: 'Page', editable },
    { name: 'amount', type: 'number' as const, label: 'Amount', editable },
    { name: 'data', type: 'json' as const, label: 'Data' },
    { name: 'choice', type: 'select' as const, label: 'Choice', options: ['one', `two${' and more'.repeat(20)}`], editable },
  ];
  for (const [slug, editable] of [
    ['shown', false],
    ['editable', true],
  ] as const) {
    await server.publish({ slug, name: 'Shown', fields: fields(editable), actions: ['approve', 'reject'] });
  }
});

async function opened(payload: Record<string, unknown>, { viewport = DESKTOP, template = 'shown' } = {}): Promise<Page> {
  const { id } = await server.ask(template, payload);
  const page = await chromium.pageOf(server.admin, { viewport });
  await page.goto(`/reviews/${id}`);
  await page.locator('.action-bar').waitFor();
  if ('body' in payload) await page.locator('.prose, .value-source').first().waitFor();
  return page;
}

const body = (page: Page) => page.locator('[data-field="body"]');

/** Texts of the page that a person cannot see: of no size, cut at an edge, or outside of the window. */
const unseen = (page: Page, within: string) =>
  page.locator(within).evaluate((root) => {
    const faults: string[] = [];
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const words = walker.currentNode.textContent?.trim();
      const element = walker.currentNode.parentElement;
      if (!words || !element || element.closest('.visually-hidden')) continue;
      const range = document.createRange();
      range.selectNodeContents(walker.currentNode);
      const { left, right, width, height } = range.getBoundingClientRect();
      const scrolled = element.closest('.scrolled') !== null;
      if (width < 1 || height < 1 || left < 0 || (right > innerWidth && !scrolled)) faults.push(`${words.slice(0, 60)} ${left}–${right}`);
      for (let box: Element | null = element; box !== null && box !== document.body; box = box.parentElement) {
        const { overflowX } = getComputedStyle(box);
        if (overflowX === 'hidden' && box.scrollWidth > box.clientWidth) faults.push(`cut: ${words.slice(0, 60)}`);
      }
    }
    return faults;
  });

const HOSTILE = [
  'Pay the invoice.<!-- comment: and delete the backups -->',
  '[//]: # (note: wire 9000)',
  '[the bank](https://evil.example/login "title: our bank") and [run](javascript:alert(1)) and [here](ftp://evil.example/x)',
  'first line\nsecond line',
  'left &#x202e;thgir&#x202c; and zero&zwnj;width and \u2066literal\u2069',
  '![chart](https://evil.example/chart.png "pixel")',
  '<b title="attribute">bold</b>',
  `\`\`\`sh info: words\n${'echo harmless; '.repeat(30)}rm -rf /the/end\n\`\`\``,
  '| a |\n|---|\n| 1 | beyond the head |',
  '[^lost]: footnote nobody refers to',
].join('\n\n');

describe.each([
  ['on a desktop', DESKTOP],
  ['on a phone', PHONE],
])('a text that hides things, %s', (_, viewport) => {
  it.each(['shown', 'editable'])('is %s with everything in it', async (template) => {
    const page = await opened({ body: HOSTILE }, { viewport, template });
    const words = ((await body(page).locator('.prose').textContent()) ?? '').replace(/\s+/g, ' ');
    for (const part of [
      '<!-- comment: and delete the backups -->',
      '[//]: # (note: wire 9000)',
      'the bank (https://evil.example/login) “title: our bank”',
      'run (javascript:alert(1)) no link',
      'here (ftp://evil.example/x) no link',
      'left U+202EthgirU+202C',
      'zeroU+200Cwidth',
      'U+2066literalU+2069',
      '“chart” (https://evil.example/chart.png) “pixel”',
      '<b title="attribute">bold</b>',
      'sh info: words',
      'rm -rf /the/end',
      'beyond the head',
      '[^lost]: footnote nobody refers to',
    ]) {
      expect(words).toContain(part);
    }
    expect(await body(page).locator('p', { hasText: 'first line' }).locator('br').count()).toBe(1);
    const links = await body(page)
      .locator('a')
      .evaluateAll((found) => found.map((link) => link.getAttribute('href')));
    expect(links).toEqual(['https://evil.example/login']);
    expect(await unseen(page, '.prose')).toEqual([]);
  });

  it.each([
    ['quotes', `${'>'.repeat(50)} the innermost words of it`],
    [
      'lists',
      Array.from({ length: 50 }, (_item, depth) => `${'  '.repeat(depth)}- ${depth === 49 ? 'the innermost words of it' : 'x'}`).join('\n'),
    ],
  ])('nested fifty deep in %s can be read', async (_kind, text) => {
    const page = await opened({ body: text }, { viewport });
    const innermost = body(page).getByText('the innermost words of it');
    const box = await innermost.boundingBox();
    expect(box?.width).toBeGreaterThan(200);
    expect(await unseen(page, '.prose')).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(viewport.width);
  });

  it('in one long line of a field that can be edited is whole in its editor', async () => {
    const long = `https://good.example/${'path/'.repeat(40)}?then=evil`;
    const page = await opened(
      { title: 'word '.repeat(60), body: 'x', page: long, choice: `two${' and more'.repeat(20)}` },
      { viewport, template: 'editable' },
    );
    for (const name of ['Title', 'Page']) {
      const cut = await page
        .getByRole('textbox', { name })
        .evaluate((input) => [input.scrollWidth - input.clientWidth, input.scrollHeight - input.clientHeight]);
      expect(cut).toEqual([0, 0]);
    }
    expect(await page.locator('[data-field="choice"] .field-note').textContent()).toBe(`two${' and more'.repeat(20)}`);
  });
});

describe('a picture or video from elsewhere', () => {
  const photo = 'https://elsewhere.example/a.png';
  const clip = 'https://elsewhere.example/a.mp4';
  it.each([false, true])('is asked for before its host hears of it (editable: %s)', async (editable) => {
    const slug = `media-${editable}`;
    await server.publish({
      slug,
      name: 'Media',
      fields: [
        { name: 'photo', type: 'image', label: 'Photo', editable },
        { name: 'clip', type: 'video', label: 'Clip', editable },
      ],
      actions: ['approve', 'reject'],
    });
    const page = await opened({ photo, clip }, { template: slug });
    const show = (name: string, what: string) =>
      page.locator(`[data-field="${name}"]`).getByRole('button', { name: `Show the ${what} from elsewhere.example`, exact: true });
    await show('clip', 'video').waitFor();
    expect(await page.locator('main').locator('img, video').count()).toBe(0);
    expect(await page.getByText('Only the address is approved. What is at it can change at any time.').count()).toBe(2);
    // Nobody was asked so far; by the button its host is.
    expect(chromium.faults).toEqual([]);
    await page.route('https://elsewhere.example/**', (route) => route.abort());
    const asked = page.waitForRequest(photo);
    await show('photo', 'picture').click();
    await asked;
    await page.getByText('The image could not be loaded.').waitFor();
    expect(await show('clip', 'video').count()).toBe(1);
    expect(chromium.faults.splice(0)).toEqual([`request: ${photo}`]);
  });
});

describe('a text whose renderer did not arrive', () => {
  it('is shown as its source, and rendered once a new try brings it', async () => {
    const { id } = await server.ask('shown', { body: '**Pay** this' });
    const page = await chromium.pageOf(server.admin);
    let asked = 0;
    await page.route('**/assets/DrawnMarkdown-*.js', (route) => (++asked < 3 ? route.abort() : route.continue()));
    await page.goto(`/reviews/${id}`);
    for (const tries of [1, 2]) {
      await body(page).getByText('What renders this text could not be loaded.').waitFor();
      await eventually(() => expect(asked).toBe(tries));
      expect(await body(page).locator('.value-source').textContent()).toBe('**Pay** this');
      expect(await body(page).getByText('or reload the page').count()).toBe(tries - 1);
      await body(page).getByRole('button', { name: 'Try again' }).click();
    }
    await body(page).locator('.prose strong').waitFor();
    expect(await body(page).locator('.prose').textContent()).toContain('Pay this');
    expect(await body(page).getByRole('button', { name: 'Try again' }).count()).toBe(0);
    expect(asked).toBe(3);
    // Said by React, of an error that a boundary has caught.
    const faults = chromium.faults.splice(0);
    expect(faults.length).toBeGreaterThan(0);
    for (const fault of faults) expect(fault).toContain('could not be fetched');
  });
});

describe('an action with a name of its template’s', () => {
  it.each([
    ['on a desktop', DESKTOP],
    ['on a phone', PHONE],
  ])('says what it records, %s', async (_, viewport) => {
    await server.publish({
      slug: `contrary-${viewport.width}`,
      name: 'Contrary',
      fields: [{ name: 'title', type: 'text', label: 'Title' }],
      actions: [
        { id: 'turn_down', label: 'Reject', kind: 'decision', decision_value: 'approved', confirmation: true },
        { id: 'go', label: 'Approve', kind: 'decision', decision_value: 'rejected' },
        'request_changes',
      ],
    });
    const page = await opened({ title: 'Contrary' }, { viewport, template: `contrary-${viewport.width}` });
    const bar = page.locator('.action-bar');
    expect(await bar.getByRole('button', { name: 'Approve Records: rejected' }).isVisible()).toBe(true);
    expect(await bar.getByRole('button', { name: 'Request changes', exact: true }).isVisible()).toBe(true);
    expect(await bar.getByText('Records: approved').isVisible()).toBe(true);
    expect(await bar.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
    await bar.getByRole('button', { name: 'Reject Records: approved' }).click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.textContent()).toContain('Records: approved. The template calls this action “Reject”.');
    await dialog.getByRole('button', { name: 'Reject (records: approved)' }).click();
    await page.locator('.outcome').waitFor();
    expect(await page.locator('.outcome').textContent()).toContain('Approved');
  });
});

describe('a text that is not drawn whole', () => {
  it('says so, and shows its source', async () => {
    const page = await opened({ body: '\ufeffHello\n\n007. Bond' });
    await page.getByText('Parts of this text are not visible in the rendered view, first on line 1.').waitFor();
    expect(await body(page).locator('.unshown pre').textContent()).toBe('U+FEFFHello\n\n007. Bond');
  });
  it.each([
    ['is too long to be rendered', 'a [b](c)\n'.repeat(6_000)],
    ['is nested too deeply to be rendered', `${'>'.repeat(20_000)} deep`],
    ['has too much markup to be rendered', '*a '.repeat(5_000) + '**b'.repeat(2_000)],
    ['has too much markup to be rendered', '~~a'.repeat(6_000)],
  ])('because it %s is shown as its source', async (why, text) => {
    const page = await opened({ body: text });
    await page.getByText(`This text ${why}. This is its source.`).waitFor();
    expect(await body(page).locator('.value-source').textContent()).toBe(text);
  });
});

describe('words that read as others', () => {
  it('are told apart in every kind of field', async () => {
    const page = await opened({
      title: 'ann@exаmple.org',
      body: 'see https://аррӏе.com/login',
      page: 'https://paypal.com@evil.example/',
      data: { to: 'pаypal' },
      undeclared: { to: 'gооgle' },
    });
    const notes = await page.locator('.fields .warning-text').allTextContents();
    expect(notes.map((note) => note.trim())).toEqual([
      '“exаmple.org” is actually the host xn--exmple-4nf.org.',
      'leads to xn--80ak6aa92e.com',
      '“аррӏе.com” is actually the host xn--80ak6aa92e.com.',
      'leads to evil.example',
      '“pаypal” mixes letters from several alphabets: Latin, Cyrillic.',
      '“gооgle” mixes letters from several alphabets: Latin, Cyrillic.',
    ]);
  });
});

describe('a number', () => {
  const sent = (number: string) =>
    fetch(`${server.url}/api/v1/reviews`, {
      method: 'POST',
      headers: { authorization: `Bearer ${server.key}`, 'content-type': 'application/json' },
      body: `{"template":"shown","payload":{"amount":${number},"data":[${number}]}}`,
    });

  it.each(['9007199254740993', '1e400', '-1e400', '0.10000000000000000001', '123456789012345678901234567890', '1e-400'])(
    'that does not survive being read never reaches a person: %s',
    async (number) => {
      const answer = await sent(number);
      expect(answer.status).toBe(400);
    },
  );

  it.each([
    ['9007199254740991', '9007199254740991'],
    ['1.0', '1'],
    ['1e21', '1e+21'],
    ['5e-324', '5e-324'],
    ['0.000001', '0.000001'],
    ['1E-7', '1e-7'],
    ['-0.5', '-0.5'],
  ])('that is sent as %s is shown as the canonical text of what is approved: %s', async (number, canonical) => {
    const answer = await sent(number);
    expect(answer.status).toBe(201);
    const { id } = (await answer.json()) as { id: string };
    const page = await chromium.pageOf(server.admin);
    await page.goto(`/reviews/${id}`);
    expect(await page.locator('[data-field="amount"] .value').textContent()).toBe(canonical);
    expect(((await page.locator('[data-field="data"] .value').textContent()) ?? '').replace(/\s/g, '')).toBe(`[${canonical}]`);
  });
});
