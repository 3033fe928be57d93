/** For everybody: by keyboard alone, by name alone, on a phone, in the dark. */
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { DESKTOP, PHONE } from './browser.js';
import { contrastFaults } from './contrast.js';
import { eventually, inboxTest, settled as ready } from './inbox-test.js';

const { server, chromium } = inboxTest();

let screens: [name: string, path: string][] = [];

beforeAll(async () => {
  await server.publish({
    slug: 'wide',
    name: 'A template with a very long name that does not fit anywhere on a phone',
    instructions: `# Read **each** field\n\n${'x'.repeat(300)}`,
    fields: [
      { name: 'title', type: 'text', label: 'Title', editable: true, required: true },
      { name: 'text', type: 'markdown', label: 'Text', editable: true },
      { name: 'data', type: 'json', label: 'Data' },
      { name: 'page', type: 'url', label: 'Page' },
      { name: 'amount', type: 'number', label: 'Amount', editable: true },
      { name: 'kind', type: 'select', label: 'Kind', options: ['one', 'y'.repeat(150)], editable: true },
      { name: 'pick', type: 'buttons', label: 'Pick', options: ['one', 'z'.repeat(80)], editable: true },
      { name: 'ok', type: 'boolean', label: 'OK', editable: true },
      { name: 'day', type: 'date', label: 'Day', editable: true },
    ],
    actions: ['approve', 'reject', 'request_changes', { id: 'flag', label: 'Flag for the legal department', kind: 'side_effect' }],
  });
  const payload = {
    title: `Wide ${'w'.repeat(200)}`,
    text: `# A heading\n\n| a | b | c |\n|---|---|---|\n| ${'m'.repeat(80)} | ${'n'.repeat(80)} | o |\n\n\`\`\`\n${'code '.repeat(60)}\n\`\`\`\n\n[a link](https://example.org/${'p'.repeat(200)})`,
    data: { key: 'q'.repeat(400) },
    page: `https://example.org/${'r'.repeat(300)}`,
    amount: 12.5,
    kind: 'y'.repeat(150),
    pick: 'one',
    ok: true,
    day: '2026-12-04',
    [`undeclared_${'s'.repeat(100)}`]: 't'.repeat(300),
  };
  const wide = await server.ask('wide', payload, {
    confidence: 0.7,
    irreversibility: 'irreversible',
    timeout: { seconds: 86_400, action: 'auto_reject' },
  });
  const changed = await server.ask('wide', payload);
  await server.act(changed.id, 'request_changes', { feedback: 'u'.repeat(300) });
  const awaited = await server.ask('wide', payload);
  await server.act(awaited.id, 'request_changes', { feedback: 'Once more' });
  await server.resubmit(changed.id, { ...payload, title: 'Narrow', text: 'v'.repeat(200) });
  const approved = await server.ask('wide', payload);
  await server.act(approved.id, 'approve', { edited_payload: { title: 'Approved' }, feedback: 'x'.repeat(200) });
  const rejected = await server.askEmail('Rejected');
  await server.act(rejected.id, 'reject', { feedback: 'No' });
  screens = [
    ['the list', '/'],
    ['the decided', '/?status=decided'],
    ['an empty list', '/?status=archived'],
    ['a review', `/reviews/${wide.id}`],
    ['a second version', `/reviews/${changed.id}`],
    ['a review the agent works on', `/reviews/${awaited.id}`],
    ['an approved review', `/reviews/${approved.id}`],
    ['a rejected review', `/reviews/${rejected.id}`],
    ['no review', '/reviews/nonsense'],
    ['no page', '/nope'],
    ['no invitation', '/invite'],
  ];
});

async function settled(page: Page, path: string): Promise<void> {
  await page.goto(path);
  await page.locator('.rows a, .review-layout, .empty-state, .card').first().waitFor();
  await eventually(async () => expect(await page.locator('.progress, .row-skeleton').count()).toBe(0));
}

/** Controls of the page without a name, as the browser tells assistive technology. */
async function nameless(page: Page): Promise<string[]> {
  const session = await page.context().newCDPSession(page);
  const { nodes } = await session.send('Accessibility.getFullAXTree');
  const controls = [
    'button',
    'link',
    'textbox',
    'combobox',
    'radio',
    'checkbox',
    'radiogroup',
    'dialog',
    'img',
    'meter',
    'Date',
    'DisclosureTriangle',
  ];
  const found = nodes.filter((node) => !node.ignored && controls.includes(String(node.role?.value)));
  expect(found.length).toBeGreaterThan(0);
  return found.filter((node) => !String(node.name?.value ?? '').trim()).map((node) => `${node.role?.value}#${node.backendDOMNodeId}`);
}

const landmarks = (page: Page) =>
  page.evaluate(() => ({
    mains: document.querySelectorAll('main').length,
    titles: document.querySelectorAll('h1').length,
    language: document.documentElement.lang,
    title: document.title,
    // What stands in a part of the page stands below its heading.
    level: [...document.querySelectorAll('.field-label')].filter(({ tagName }) => tagName === 'H1' || tagName === 'H2').length,
    // A level may be left, but not be skipped on the way down.
    skipped: [...document.querySelectorAll('h1, h2, h3, h4, h5, h6')]
      .map(({ tagName }) => Number(tagName[1]))
      .filter((level, at, levels) => at > 0 && level > Number(levels[at - 1]) + 1),
  }));

describe.each([
  ['a desktop in the light', DESKTOP, 'light'],
  ['a phone in the dark', PHONE, 'dark'],
] as const)('on %s', (_, viewport, colorScheme) => {
  it('every screen has its landmarks, names for its controls, readable colours, and no sideways scroll', async () => {
    const page = await chromium.pageOf(server.admin, { viewport, colorScheme, reducedMotion: 'reduce' });
    const faults: string[] = [];
    for (const [name, path] of screens) {
      await settled(page, path);
      const { mains, titles, language, title, level, skipped } = await landmarks(page);
      if (level > 0) faults.push(`${name}: ${level} fields with a heading as high as that of all fields`);
      if (skipped.length > 0) faults.push(`${name}: headings of level ${skipped} with none above`);
      if (mains !== 1 || language !== 'en' || !/· Countersign$/.test(title)) faults.push(`${name}: ${mains} main, ${language}, ${title}`);
      if (titles !== 1) faults.push(`${name}: ${titles} h1`);
      faults.push(...(await nameless(page)).map((control) => `${name}: ${control} has no name`));
      faults.push(...(await contrastFaults(page)).map((fault) => `${name}: ${fault}`));
      const [wide, shown] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
      if (Number(wide) > Number(shown)) faults.push(`${name}: ${wide} px wide on ${shown}`);
    }
    expect(faults).toEqual([]);
  });

  it('so does signing in, and what asks before it acts', async () => {
    const page = await (await chromium.context({ viewport, colorScheme, reducedMotion: 'reduce' })).newPage();
    await settled(page, '/login');
    expect([await nameless(page), await contrastFaults(page)]).toEqual([[], []]);
    const inside = await chromium.pageOf(server.admin, { viewport, colorScheme, reducedMotion: 'reduce' });
    await settled(inside, screens[3]?.[1] as string);
    await inside.getByRole('button', { name: 'Approve', exact: true }).click();
    await inside.getByRole('dialog').waitFor();
    expect([await nameless(inside), await contrastFaults(inside)]).toEqual([[], []]);
    expect(await inside.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(viewport.width);
  });
});

describe('by keyboard alone', () => {
  it('a person signs in, finds a review, decides it, and goes on to the next', async () => {
    // Newest first among equals.
    const second = await server.askEmail('Keys: the second', { priority: 'critical' });
    const first = await server.askEmail('Keys: the first', { priority: 'critical' });
    const page = await (await chromium.context()).newPage();
    await page.goto('/');
    await page.getByLabel('E-mail').waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.type(server.admin.email);
    await page.keyboard.press('Tab');
    await page.keyboard.type(server.admin.password);
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: /Keys: the first/ }).waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('k');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Keys: the first' }).waitFor();
    await page.locator('.action-bar').waitFor();
    await ready(page);

    await page.keyboard.press('r');
    await page.getByText('Enter feedback first').waitFor();
    await page.keyboard.type('approve r c a j k ?');
    await page.keyboard.press('Escape');
    await page.keyboard.press('a');
    await page.getByRole('dialog', { name: 'Approve?' }).waitFor();
    await page.keyboard.press('Escape');
    expect((await server.read(first.id)).status).toBe('pending');
    await page.keyboard.press('a');
    await page.getByRole('dialog', { name: 'Approve?' }).waitFor();
    await ready(page);
    await page.keyboard.press('Enter');
    await page.locator('.outcome').waitFor();
    expect(await server.read(first.id)).toMatchObject({ decision: 'approved', feedback: 'approve r c a j k ?' });

    await eventually(async () =>
      expect(await page.locator('.outcome').evaluate((element) => element === document.activeElement)).toBe(true),
    );
    await page.keyboard.press('j');
    await page.getByRole('heading', { level: 1, name: 'Keys: the second' }).waitFor();
    await page.locator('.action-bar').waitFor();
    await ready(page);
    await page.keyboard.press('c');
    await page.getByText('Enter feedback first').waitFor();
    await page.keyboard.type('Once more, please');
    await page.keyboard.press('Control+Enter');
    await page.getByRole('heading', { name: 'Waiting for the agent' }).waitFor();
    expect(await server.read(second.id)).toMatchObject({ status: 'awaiting_iteration', feedback: 'Once more, please' });

    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await page.getByRole('navigation', { name: 'Reviews', exact: true }).waitFor();
    await page.keyboard.press('?');
    const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    await help.waitFor();
    const gaps = await help.locator('.shortcut').evaluateAll((rows) =>
      rows.map((row) => {
        const [keys, words] = [row.querySelector('kbd:last-child'), row.querySelector('dd')];
        return Number(words?.getBoundingClientRect().left) - Number(keys?.getBoundingClientRect().right);
      }),
    );
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(8);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  });

  it('the focus is always seen', async () => {
    const page = await chromium.pageOf(server.admin);
    await settled(page, screens[3]?.[1] as string);
    const unseen: string[] = [];
    for (let i = 0; i < 40; i++) {
      await page.keyboard.press('Tab');
      const fault = await page.evaluate(() => {
        const focused = document.activeElement as HTMLElement;
        if (focused === document.body) return null;
        const ring = (element: Element | null) => element !== null && getComputedStyle(element).outlineStyle !== 'none';
        const seen = ring(focused) || ring(focused.nextElementSibling);
        return seen ? null : focused.outerHTML.slice(0, 120);
      });
      if (fault) unseen.push(fault);
    }
    expect(unseen).toEqual([]);
  });
});

describe('with motion reduced', () => {
  it('nothing moves', async () => {
    const page = await chromium.pageOf(server.admin, { reducedMotion: 'reduce' });
    await settled(page, '/');
    await page.getByText('Live', { exact: true }).waitFor();
    await server.askEmail('Does not flash');
    await page.getByRole('link', { name: /Does not flash/ }).waitFor();
    expect(await page.evaluate(() => document.getAnimations().length)).toBe(0);
  });
});
