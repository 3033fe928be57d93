/** Two presses where one was meant: by mouse, by finger, by key. */
import { describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { PHONE } from './browser.js';
import { inboxTest, settled } from './inbox-test.js';

const { server, chromium } = inboxTest();

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

async function opened(id: string, device: Parameters<typeof chromium.pageOf>[1] = {}): Promise<Page> {
  const page = await chromium.pageOf(server.admin, device);
  await page.goto(`/reviews/${id}`);
  await page.locator('.action-bar').waitFor();
  return page;
}

async function middleOf(page: Page, name: string): Promise<[x: number, y: number]> {
  const box = await button(page, name).boundingBox();
  if (!box) throw new Error(`The button “${name}” is not on the page.`);
  return [box.x + box.width / 2, box.y + box.height / 2];
}

/** The actions the page sends, as it sends them. */
function actionsOf(page: Page): string[] {
  const sent: string[] = [];
  page.on('request', (request) => {
    if (request.url().endsWith('/action')) sent.push((JSON.parse(request.postData() ?? '') as { action_id: string }).action_id);
  });
  return sent;
}

describe('two presses at once', () => {
  it.each([
    ['a double click on a desktop', {}, 120],
    ['a double tap on a phone', { viewport: PHONE, hasTouch: true, isMobile: true }, 250],
  ])('on “Request changes” request changes, and nothing else: %s', async (_, device, apartMs) => {
    const { id } = await server.askEmail('Pressed twice');
    const page = await opened(id, device);
    const sent = actionsOf(page);
    await page.getByLabel('Feedback to the agent').fill('Friendlier, please');
    const [x, y] = await middleOf(page, 'Request changes');
    const press = () => ('hasTouch' in device ? page.touchscreen.tap(x, y) : page.mouse.click(x, y));
    await settled(page);
    await press();
    await button(page, 'Cancel the request for changes').waitFor();
    // Time has to pass, as between the presses of a person, and whatever lies under the finger is pressed now and again until it would count.
    for (let at = 0; at < 2; at++) {
      await press();
      await page.evaluate((ms) => new Promise((later) => setTimeout(later, ms)), apartMs);
    }
    await settled(page);
    expect(await page.getByRole('dialog').count()).toBe(0);
    expect(sent).toEqual(['request_changes']);
    expect(await server.read(id)).toMatchObject({ status: 'awaiting_iteration', feedback: 'Friendlier, please' });
  });

  it('of a key ask once, and say nothing yet', async () => {
    const { id } = await server.askEmail('Key pressed twice');
    const page = await opened(id);
    await settled(page);
    await page.keyboard.press('a');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Approve?' }).waitFor();
    await page.keyboard.press('Enter');
    expect((await server.read(id)).status).toBe('pending');
    await settled(page);
    await page.keyboard.press('Enter');
    await page.locator('.outcome').waitFor();
    expect((await server.read(id)).decision).toBe('approved');
  });

  it.each([
    ['a double click on a desktop', {}],
    ['a double tap on a phone', { viewport: PHONE, hasTouch: true, isMobile: true }],
  ])('on “Approve” approve, and open nothing of what comes in its place: %s', async (_, device) => {
    const links = Array.from({ length: 60 }, (_each, n) => `[Line ${n} of the letter, which is long](https://example.org/${n})\n\n`);
    const trace_url = 'https://example.org/trace';
    const { id } = await server.ask(
      'email-draft',
      { to: 'ann@example.org', subject: 'Approved twice', body: links.join('') },
      { trace_url },
    );
    const page = await opened(id, device);
    const sent = actionsOf(page);
    const [x, y] = await middleOf(page, 'Approve');
    const press = () => ('hasTouch' in device ? page.touchscreen.tap(x, y) : page.mouse.click(x, y));
    await page.getByRole('link', { name: 'Line 0' }).waitFor();
    await settled(page);
    await press();
    await page.locator('.outcome').waitFor();
    await press();
    await settled(page);
    expect(sent).toEqual(['approve']);
    expect((await server.read(id)).decision).toBe('approved');
    expect(page.context().pages()).toHaveLength(1);
    expect(page.url()).toBe(`${server.url}/reviews/${id}`);
  });

  it('on what asks first ask, and do not answer', async () => {
    const { id } = await server.askEmail('Not twice for good', { irreversibility: 'irreversible' });
    const page = await opened(id, { viewport: { width: 390, height: 420 } });
    await settled(page);
    await page.mouse.dblclick(...(await middleOf(page, 'Approve')));
    const dialog = page.getByRole('dialog', { name: 'Approve? This cannot be undone.' });
    await dialog.waitFor();
    await page.mouse.click(...(await middleOf(page, 'Approve permanently')));
    await settled(page);
    expect(await dialog.count()).toBe(1);
    expect((await server.read(id)).status).toBe('pending');
    await button(page, 'Approve permanently').click();
    await page.locator('.outcome').waitFor();
  });
});
