/** The way through the inbox: from the list to a review and back, what is over, and addresses that lead nowhere. */
import type { Review } from '@countersign/contracts';
import { describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { PHONE } from './browser.js';
import { eventually, inboxTest } from './inbox-test.js';

const { server, chromium } = inboxTest();

const focused = (page: Page) => page.evaluate(() => document.activeElement?.textContent ?? '');
const titles = (page: Page) => page.locator('.row-title').allTextContents();

describe('from the list to a review and back', () => {
  it('by keyboard the person begins at the heading, and returns to the row they left', async () => {
    for (const subject of ['Way: third', 'Way: second', 'Way: first']) await server.askEmail(subject, { priority: 'critical' });
    const page = await chromium.pageOf(server.admin);
    await page.goto('/');
    await page.getByRole('link', { name: /Way: second/ }).waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Way: second' }).waitFor();
    await eventually(async () => expect(await focused(page)).toBe('Way: second'));
    await page.keyboard.press('Escape');
    await eventually(async () => expect(await focused(page)).toContain('Way: second'));
    await page.keyboard.press('j');
    expect(await focused(page)).toContain('Way: third');
    await page.keyboard.press('Enter');
    await eventually(async () => expect(await focused(page)).toBe('Way: third'));
    await page.goBack();
    await eventually(async () => expect(await page.evaluate(() => document.activeElement?.className)).toContain('row'));
    expect(await focused(page)).toContain('Way: third');
  });

  it('a row that has gone meanwhile leaves its place to the one after it', async () => {
    const next = await server.askEmail('Gone: the next', { priority: 'critical' });
    const { id } = await server.askEmail('Gone: this', { priority: 'critical' });
    const page = await chromium.pageOf(server.admin);
    await page.goto('/');
    await page.getByRole('link', { name: /Gone: this/ }).click();
    await page.locator('.action-bar').waitFor();
    await server.act(id, 'approve');
    await page.locator('.outcome').waitFor();
    await eventually(async () => expect(await page.locator('.review-place').textContent()).toBe(''));
    await page.keyboard.press('Escape');
    await page.locator(`a.row[href="/reviews/${next.id}"]`).waitFor();
    await eventually(async () => expect(await focused(page)).toContain('Gone: the next'));
  });

  it('leads back to the list that was looked at', async () => {
    const { id } = await server.askEmail('Back to the decided');
    await server.act(id, 'approve');
    const page = await chromium.pageOf(server.admin);
    await page.goto('/?status=decided');
    await page.getByRole('link', { name: /Back to the decided/ }).click();
    await page.getByRole('heading', { level: 1, name: 'Back to the decided' }).waitFor();
    await page.keyboard.press('Escape');
    await eventually(() => expect(page.url()).toBe(`${server.url}/?status=decided`));
    await eventually(async () => expect(await focused(page)).toContain('Back to the decided'));
  });
});

describe('what is over', () => {
  it('stands by when it was decided, however urgent it was, over all its pages', async () => {
    const asked = ['plain', ...Array.from({ length: 51 }, (_, n) => `urgent ${n}`), 'the last'];
    for (const name of asked) {
      const { id } = await server.askEmail(`Over: ${name}`, { priority: name.startsWith('urgent') ? 'critical' : 'low' });
      await server.act(id, 'approve');
    }
    const page = await chromium.pageOf(server.admin);
    await page.goto('/?status=decided');
    const latestFirst = asked.map((name) => `Over: ${name}`).toReversed();
    await eventually(async () => expect(await titles(page)).toEqual(latestFirst.slice(0, 50)));
    await page.getByRole('button', { name: 'Show more' }).click();
    await eventually(async () => expect((await titles(page)).slice(0, asked.length)).toEqual(latestFirst));
    await eventually(async () => expect(await focused(page)).toContain(latestFirst[50]));
  });

  it('is archived on its page, and taken out of the archive again', async () => {
    const { id } = await server.askEmail('To the archive');
    await server.act(id, 'approve');
    const page = await chromium.pageOf(server.admin);
    await page.goto(`/reviews/${id}`);
    await page.getByRole('button', { name: 'Archive', exact: true }).click();
    await page.getByRole('button', { name: 'Unarchive' }).waitFor();
    expect((await server.read(id)).status).toBe('archived');
    expect(await page.locator('.outcome-title').textContent()).toBe('Approved · Archived');
    await page.getByRole('button', { name: 'Unarchive' }).click();
    await page.getByRole('button', { name: 'Archive', exact: true }).waitFor();
    expect((await server.read(id)).status).toBe('decided');
  });

  it('says when it was withdrawn, also once it is archived', async () => {
    const { id } = await server.askEmail('Withdrawn');
    const { settled_at } = await server.call<Review>('POST', `/reviews/${id}/withdraw`, { reason: 'Not needed any more' });
    const page = await chromium.pageOf(server.admin);
    await page.goto('/?status=expired');
    await page.getByRole('link', { name: /Withdrawn/ }).waitFor();
    expect(await page.locator('.tab[aria-current]').textContent()).toBe('Expired or withdrawn');
    await server.advanceClock(60);
    await server.call('POST', `/reviews/${id}/archive`, undefined, await server.tokenOf());
    await page.goto(`/reviews/${id}`);
    expect(await page.locator('.outcome-by time').getAttribute('datetime')).toBe(settled_at);
    expect(await page.locator('.outcome-by').textContent()).toMatch(/^Withdrawn by the agent · .*: Not needed any more$/);
    await page.goto('/?status=archived');
    expect(
      await page
        .getByRole('link', { name: /Withdrawn/ })
        .locator('.row-age time')
        .getAttribute('datetime'),
    ).toBe(settled_at);
  });
});

describe('on a low screen', () => {
  it('the column beside the review shows where more of it follows', async () => {
    const { id } = await server.askEmail('Low');
    const page = await chromium.pageOf(server.admin, { viewport: { width: 1280, height: 420 } });
    await page.goto(`/reviews/${id}`);
    const side = page.locator('.review-side');
    await side.and(page.locator('[data-more="after"]')).waitFor();
    await side.evaluate((column) => column.scrollTo(0, column.scrollHeight));
    await side.and(page.locator('[data-more="before"]')).waitFor();
    await page.setViewportSize({ width: 1280, height: 2000 });
    await side.and(page.locator(':not([data-more])')).waitFor();
  });
});

describe('on a phone', () => {
  it('the selected tab is in sight, with a fade where more follow', async () => {
    const page = await chromium.pageOf(server.admin, { viewport: PHONE });
    for (const [status, more] of [
      ['pending', 'after'],
      ['decided', 'before after'],
      ['archived', 'before'],
    ]) {
      await page.goto(`/?status=${status}`);
      const tab = page.locator('.tab[aria-current]');
      await tab.waitFor();
      await eventually(async () => {
        const box = await tab.boundingBox();
        expect(box && box.x >= 0 && box.x + box.width <= PHONE.width).toBe(true);
        expect(await page.locator('.tabs').getAttribute('data-more')).toBe(more);
      });
    }
  });

  it('a deadline says what happens then', async () => {
    await server.askEmail('Soon over', { priority: 'critical', timeout: { seconds: 14_000, action: 'auto_reject' } });
    const page = await chromium.pageOf(server.admin, { viewport: PHONE });
    await page.goto('/');
    const row = page.getByRole('link', { name: /Soon over/ });
    await row.getByText('auto-rejects in').waitFor();
    expect(await row.locator('.row-deadline').textContent()).toMatch(/^auto-rejects in 3 h 5\d min$/);
  });
});

describe('an address that leads nowhere', () => {
  it('is answered with a page that says so', async () => {
    const page = await chromium.pageOf(server.admin);
    const answer = await page.goto('/nope');
    expect(answer?.status()).toBe(404);
    await page.getByRole('heading', { level: 1, name: 'Page not found' }).waitFor();
    await page.getByRole('link', { name: 'Back to the inbox' }).click();
    await page.getByRole('navigation', { name: 'Reviews', exact: true }).waitFor();
  });
});
