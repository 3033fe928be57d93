/** What is decided is what was looked at: an agent's next version that comes under the pointer, or behind a dialog, is not. */
import { describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { DESKTOP, PHONE } from './browser.js';
import { approve, eventually, inboxTest, settled } from './inbox-test.js';

const { server, chromium } = inboxTest();

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true });
const EVIL = { to: 'evil@example.org', subject: 'Wire 1 000 000', body: 'evil' };

async function opened(viewport: typeof DESKTOP, more = {}): Promise<{ id: string; page: Page; sent: string[] }> {
  const { id } = await server.askEmail('Looked at', more);
  const page = await chromium.pageOf(server.admin, { viewport });
  await page.goto(`/reviews/${id}`);
  await page.locator('.action-bar').waitFor();
  await page.getByText('Live', { exact: true }).waitFor();
  const sent: string[] = [];
  page.on('request', (request) => {
    if (request.url().endsWith('/action')) sent.push(request.postData() ?? '');
  });
  return { id, page, sent };
}

/** Somebody else asks for changes, and the agent answers with other words at once. */
async function swap(id: string): Promise<void> {
  await server.act(id, 'request_changes', { feedback: 'Again' });
  await server.resubmit(id, EVIL);
}

describe.each([
  ['on a desktop', DESKTOP],
  ['on a phone', PHONE],
])('a version that comes while the page is open, %s', (_, viewport) => {
  it.each([
    ['of what cannot be undone', { irreversibility: 'irreversible' as const }, async (page: Page) => button(page, 'Approve').click()],
    [
      'of a key',
      {},
      async (page: Page) => {
        await settled(page);
        await page.keyboard.press('a');
      },
    ],
    [
      'with an edit',
      { irreversibility: 'irreversible' as const },
      async (page: Page) => {
        await page.getByRole('textbox', { name: 'Subject' }).fill('My careful edit');
        await button(page, 'Approve').click();
      },
    ],
  ])('closes the dialog %s, and nothing is sent', async (_kind, more, begin) => {
    const { id, page, sent } = await opened(viewport, more);
    await begin(page);
    const dialog = page.getByRole('dialog');
    await dialog.waitFor();
    await swap(id);
    await dialog.waitFor({ state: 'detached' });
    await button(page, 'Show version 2').waitFor();
    expect(await page.getByTestId('announcer').textContent()).toContain('The question was closed');
    expect(await page.locator('.notices').evaluate((notices) => notices === document.activeElement)).toBe(true);
    expect(await button(page, 'Approve').isDisabled()).toBe(true);
    await page.keyboard.press('a');
    await page.keyboard.press('Enter');
    expect(await dialog.count()).toBe(0);
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Looked at');
    expect(sent).toEqual([]);
    expect(await server.read(id)).toMatchObject({ status: 'pending', current_version: 2, decision: null });
  });

  it.each([0, 50, 400, 2500])('is not what a click %i ms later decides', async (delay) => {
    const { id, page, sent } = await opened(viewport);
    const box = await button(page, 'Approve').boundingBox();
    if (!box) throw new Error('The button is not on the page.');
    await swap(id);
    if (delay > 0) await button(page, 'Show version 2').waitFor();
    // Time has to pass: the click is one that was on its way, or comes when the page has settled and its dialogs and notices have moved.
    await page.evaluate((ms) => new Promise((done) => setTimeout(done, ms)), delay);
    await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
    await button(page, 'Show version 2').waitFor();
    expect(sent.every((body) => (JSON.parse(body) as { version: number }).version === 1)).toBe(true);
    if (delay > 0) expect(sent).toEqual([]);
    expect(await server.read(id)).toMatchObject({ status: 'pending', current_version: 2, decision: null });
    expect(await page.locator('main').textContent()).not.toContain('Wire 1 000 000');
  });

  it('is shown when it is asked for, and then decided as it is', async () => {
    const { id, page, sent } = await opened(viewport);
    await swap(id);
    const show = button(page, 'Show version 2');
    await show.waitFor();
    expect(await button(page, 'Approve').isDisabled()).toBe(true);
    await page.evaluate(() => window.scrollTo(0, 300));
    expect(await show.evaluate((element) => element.getBoundingClientRect().top)).toBeGreaterThan(0);
    await show.click();
    await eventually(async () => expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe(EVIL.subject));
    await approve(page);
    await page.locator('.outcome').waitFor();
    const { payload_digest, ...review } = await server.read(id);
    expect(sent.map((body) => JSON.parse(body))).toEqual([{ action_id: 'approve', version: 2, payload_digest }]);
    expect(review).toMatchObject({ decision: 'approved', approved_value: EVIL, shown: 'exact' });
  });

  it('is waited for also while somebody else has it with the agent: the buttons do not change their meaning under the pointer', async () => {
    const { id, page } = await opened(viewport);
    await server.act(id, 'request_changes', { feedback: 'Again' });
    await page.getByText('Changes were requested', { exact: true }).waitFor();
    expect(await button(page, 'Cancel the request for changes').count()).toBe(0);
    expect(await button(page, 'Approve').isDisabled()).toBe(true);
    await button(page, 'Show the review as it is now').click();
    await button(page, 'Cancel the request for changes').waitFor();
  });
});
