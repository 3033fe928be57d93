/** The queue as it is counted, walked and told apart. */
import { describe, expect, it } from '@jest/globals';
import { eventually, inboxTest } from './inbox-test.js';

const { server, chromium } = inboxTest();

describe('a queue longer than what is read of it at once', () => {
  it('is counted by the server, and the way on does not end where the first page does', async () => {
    for (let at = 0; at < 62; at++) await server.askEmail(`Queued ${at}`);
    const page = await chromium.pageOf(server.admin);
    await page.goto('/');
    await page.getByText(/^50 of \d+$/).waitFor();
    const total = Number(await page.locator('.tab-count').textContent());
    expect(total).toBeGreaterThanOrEqual(62);
    const paths = await page.locator('a.row').evaluateAll((rows) => rows.map((row) => row.getAttribute('href') ?? ''));
    expect(paths.length).toBe(50);
    await page.goto(paths[48] as string);
    await page.getByText(`49 of ${total} to decide`).waitFor();
    await page.getByRole('link', { name: 'Next' }).click();
    await page.getByText(`50 of ${total} to decide`).waitFor();
    await page.getByRole('link', { name: 'Next' }).click();
    await page.getByText(`51 of ${total} to decide`).waitFor();
    await page.reload();
    await page.getByText('Not among the first 50 to decide').waitFor();
  });

  it('says in words what is urgent', async () => {
    await server.askEmail('Pressing', { priority: 'high' });
    await server.askEmail('On fire', { priority: 'critical' });
    const page = await chromium.pageOf(server.admin);
    await page.goto('/');
    await page
      .getByRole('link', { name: /Pressing.*High priority/ })
      .getByText('High priority')
      .waitFor();
    await page
      .getByRole('link', { name: /On fire.*Critical priority/ })
      .getByText('Critical priority')
      .waitFor();
  });
});

describe('keys the template does not declare', () => {
  it('are marked where they may be taken for others', async () => {
    const { id } = await server.ask('email-draft', {
      to: 'ann@example.org',
      subject: 'Keys',
      body: 'b',
      ' to': 1,
      tо: 2,
      'subject\u00a0': 3,
      '': 4,
      plain: 5,
    });
    const page = await chromium.pageOf(server.admin);
    await page.goto(`/reviews/${id}`);
    const item = (text: string) => page.locator('.undeclared-item').filter({ hasText: text });
    await eventually(async () => expect(await page.locator('.undeclared-item').count()).toBe(5));
    expect(await item('" to"').textContent()).toContain('U+0020. This key looks like “to”, and is another one.');
    expect(await item('"tо"').textContent()).toContain('looks like “to”, and is another one.');
    expect(await item('U+00A0').textContent()).toContain('looks like “subject”');
    expect(await item('""').textContent()).toContain('This key is empty.');
    expect(await item('"plain"').locator('.field-note').count()).toBe(0);
  });
});
