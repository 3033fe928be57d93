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

describe('two presses at once', () => {
  it.each([
    ['a double click on a desktop', {}, 120],
    ['a double tap on a phone', { viewport: PHONE, hasTouch: true, isMobile: true }, 250],
  ])('on “Request changes” request changes, and nothing else: %s', async (_, device, apartMs) => {
    const { id } = await server.askEmail('Pressed twice');
    const page = await opened(id, device);
    const sent: string[] = [];
    page.on('request', (request) => {
      if (request.url().endsWith('/action')) sent.push((JSON.parse(request.postData() ?? '') as { action_id: string }).action_id);
    });
    await page.getByLabel('Feedback to the agent').fill('Friendlier, please');
    const box = await button(page, 'Request changes').boundingBox();
    if (!box) throw new Error('The button is not on the page.');
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
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

  it('on “Approve” ask, and do not answer', async () => {
    const { id } = await server.askEmail('Approved twice', { irreversibility: 'reversible' });
    const page = await opened(id, { viewport: { width: 390, height: 420 } });
    const box = await button(page, 'Approve').boundingBox();
    if (!box) throw new Error('The button is not on the page.');
    await settled(page);
    await page.mouse.dblclick(box.x + box.width / 2, box.y + box.height / 2);
    const dialog = page.getByRole('dialog', { name: 'Approve?' });
    await dialog.waitFor();
    const yes = await dialog.getByRole('button', { name: 'Approve' }).boundingBox();
    if (!yes) throw new Error('The button is not on the page.');
    await page.mouse.click(yes.x + yes.width / 2, yes.y + yes.height / 2);
    await settled(page);
    expect(await dialog.count()).toBe(1);
    expect((await server.read(id)).status).toBe('pending');
    await dialog.getByRole('button', { name: 'Approve' }).click();
    await page.locator('.outcome').waitFor();
  });
});
