/** Signing in and out, and everything that may come between a person and their work. */
import { describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { approve, eventually, inboxTest } from './inbox-test.js';

const { server, chromium } = inboxTest();

const feedback = (page: Page) => page.getByLabel('Feedback to the agent');

async function signIn(page: Page, { email, password } = server.admin): Promise<void> {
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

/** Ends every session of a person, as an operator or another device would. */
async function endSessions(person = server.admin): Promise<void> {
  await server.call('POST', '/auth/sessions/revoke-all', {}, await server.tokenOf(person));
}

describe('signing in', () => {
  it('with the printed link works once, and leaves no token in the address', async () => {
    const link = await server.signInLink();
    const page = await (await chromium.context()).newPage();
    await page.goto('/login#link=csl_of_another');
    await page.getByText('Sign-in link failed').waitFor();
    // The page is open already: what changes is only the fragment.
    await page.goto(link);
    await page.getByRole('navigation', { name: 'Reviews', exact: true }).waitFor();
    expect(page.url()).toBe(`${server.url}/`);
    const again = await (await chromium.context()).newPage();
    await again.goto(link);
    await again.getByText('Sign-in link failed').waitFor();
    expect(again.url()).not.toContain('link=');
    expect(await again.getByLabel('Password').isVisible()).toBe(true);
    const { id } = await server.askEmail('By link');
    await page.goto(`/reviews/${id}`);
    await approve(page);
    await page.locator('.outcome').filter({ hasText: 'signed in with a sign-in link' }).waitFor();
  });

  it('with a password leads back to the page that was asked for', async () => {
    const { id } = await server.askEmail('Deep link');
    const page = await (await chromium.context()).newPage();
    await page.goto(`/reviews/${id}`);
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await signIn(page, { ...server.admin, password: 'not the password' });
    await page
      .getByRole('alert')
      .filter({ hasText: /Incorrect e-mail address or password/ })
      .waitFor();
    await signIn(page);
    await page.getByRole('heading', { level: 1, name: 'Deep link' }).waitFor();
    const cookies = await page.context().cookies();
    expect(cookies.find(({ name }) => name === 'countersign_session')).toMatchObject({ httpOnly: true, sameSite: 'Lax' });
    expect(await page.evaluate(() => document.cookie)).toBe('');
  });

  it('does not lead to another place', async () => {
    const page = await (await chromium.context()).newPage();
    await page.goto(`/login?return_to=${encodeURIComponent('//evil.example/')}`);
    await signIn(page);
    await page.getByRole('navigation', { name: 'Reviews', exact: true }).waitFor();
    expect(page.url()).toBe(`${server.url}/`);
  });

  it('by an invitation makes a person of the project', async () => {
    const { email, url } = await server.invitation('dora');
    const page = await (await chromium.context()).newPage();
    await page.goto('/invite#csi_of_another');
    await page.getByRole('heading', { level: 1, name: 'This invitation is not valid' }).waitFor();
    await page.goto(url);
    await page.getByRole('heading', { name: 'Join Demo' }).waitFor();
    expect(page.url()).toBe(`${server.url}/invite`);
    await page.reload();
    await page.getByRole('heading', { name: 'Join Demo' }).waitFor();
    await page.getByLabel('Your name').fill('Dora');
    await page.getByLabel('New password').fill('a password of some length');
    await page.getByRole('button', { name: 'Join' }).click();
    await page.getByRole('navigation', { name: 'Reviews', exact: true }).waitFor();
    await page.getByLabel('Account: Dora').click();
    expect(await page.locator('.menu-panel').textContent()).toContain(email);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.goto('/');
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.goto(url);
    await page.getByRole('heading', { level: 1, name: 'This invitation was already accepted' }).waitFor();
    expect(await page.getByRole('alert').textContent()).toBe('Sign in with the e-mail address it was sent to.');
    await page.goto('/login');
    await page.goto('/invite');
    await page.getByRole('heading', { level: 1, name: 'This link is incomplete' }).waitFor();
  });
});

describe('a session that ends in the middle of work', () => {
  it('keeps what was typed, asks to sign in again, and goes on', async () => {
    const { id } = await server.askEmail('Interrupted');
    const page = await chromium.pageOf(server.admin);
    await page.goto(`/reviews/${id}`);
    await feedback(page).fill('Half a sentence');
    await page.getByRole('textbox', { name: 'Subject' }).fill('My edit');
    await endSessions();
    const dialog = page.getByRole('dialog', { name: 'You were signed out' });
    await dialog.waitFor();
    expect(await dialog.getByLabel('Password').evaluate((input) => input === document.activeElement)).toBe(true);
    await dialog.getByLabel('Password').fill(server.admin.password);
    await dialog.getByRole('button', { name: 'Sign in' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await feedback(page).inputValue()).toBe('Half a sentence');
    expect(await page.getByRole('textbox', { name: 'Subject' }).inputValue()).toBe('My edit');
    await page.getByText('Live', { exact: true }).waitFor();
    await approve(page);
    await page.locator('.outcome').waitFor();
    expect(await server.read(id)).toMatchObject({
      decision: 'edited',
      feedback: 'Half a sentence',
      approved_value: { subject: 'My edit' },
    });
  });

  it('shows nothing of one person to the next', async () => {
    const eve = await server.invite('eve');
    const { id } = await server.askEmail('Not yours');
    const page = await chromium.pageOf(server.admin);
    await page.goto(`/reviews/${id}`);
    await feedback(page).fill('A private remark');
    await endSessions();
    const dialog = page.getByRole('dialog', { name: 'You were signed out' });
    await dialog.getByLabel('E-mail').fill(eve.email);
    await dialog.getByLabel('Password').fill(eve.password);
    await dialog.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('navigation', { name: 'Reviews', exact: true }).waitFor();
    await page.goto(`/reviews/${id}`);
    await eventually(async () => expect(await feedback(page).inputValue()).toBe(''));
    expect(await page.evaluate(() => JSON.stringify({ ...sessionStorage }))).not.toContain('private');
  });
});

describe('a server that is away', () => {
  it('is missed openly: nothing is lost, and the page comes back by itself', async () => {
    const { id } = await server.askEmail('Restarted');
    const page = await chromium.pageOf(server.admin);
    await page.goto('/');
    await page.getByText('Live', { exact: true }).waitFor();
    const other = await page.context().newPage();
    await other.goto(`/reviews/${id}`);
    await feedback(other).fill('Kept over the restart');
    await server.stop();
    await page.getByText(/^(Connecting…|Disconnected)$/).waitFor();
    await approve(other);
    await other.getByText('The server cannot be reached').waitFor();
    await server.start();
    await server.askEmail('Came while it was away');
    await page.getByRole('link', { name: /Came while it was away/ }).waitFor({ timeout: 40_000 });
    await eventually(async () => expect(await other.getByText('Live', { exact: true }).count()).toBe(1));
    await approve(other);
    await other.locator('.outcome').waitFor();
    expect(await server.read(id)).toMatchObject({ decision: 'approved', feedback: 'Kept over the restart' });
  });

  it('that was killed is no longer said to be away once it is back, and what it knows is on the page', async () => {
    const { id } = await server.askEmail('Killed');
    const page = await chromium.pageOf(server.admin);
    await page.goto(`/reviews/${id}`);
    await page.getByText('Live', { exact: true }).waitFor();
    // What draws the text comes by a request of its own.
    await page.locator('strong', { hasText: 'Killed' }).waitFor();
    await server.kill();
    await approve(page);
    await page.getByText('No response', { exact: true }).waitFor();
    await page.getByText('This review may be out of date').waitFor();
    await server.start();
    await eventually(async () => expect(await page.locator('.notices .banner, .review > .banner').count()).toBe(0));
    await server.act(id, 'reject', { feedback: 'Meanwhile' });
    await page.locator('.outcome').filter({ hasText: 'Rejected' }).waitFor();
  });

  it('that cannot be reached at first says so, with a way to try again', async () => {
    const page = await chromium.pageOf(server.admin);
    await page.route('**/api/v1/auth/me', (route) => route.abort());
    await page.goto('/');
    await page.getByText('The server cannot be reached').waitFor();
    await page.unroute('**/api/v1/auth/me');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('navigation', { name: 'Reviews', exact: true }).waitFor();
  });

  it('shows a machine without network that it has none', async () => {
    const page = await chromium.pageOf(server.admin);
    await page.goto('/');
    await page.getByText('Live', { exact: true }).waitFor();
    await page.context().setOffline(true);
    await page.getByText('Offline', { exact: true }).waitFor();
    await page.context().setOffline(false);
    await page.getByText('Live', { exact: true }).waitFor();
  });
});

describe('a connection that broke', () => {
  it('is resumed where it was, so that nothing is missed', async () => {
    const page = await chromium.pageOf(server.admin);
    await page.goto('/');
    await page.getByText('Live', { exact: true }).waitFor();
    // What went over the wire, as the browser's network has it.
    const places: (string | null)[] = [];
    const network = await page.context().newCDPSession(page);
    await network.send('Network.enable');
    network.on('Network.requestWillBeSentExtraInfo', ({ headers }) => {
      const sent = new Headers(headers as Record<string, string>);
      if (sent.get('accept') === 'text/event-stream') places.push(sent.get('last-event-id'));
    });
    await server.stop();
    await page.getByText('Connecting…', { exact: true }).waitFor();
    await server.start();
    await server.askEmail('While it was broken');
    await page.getByRole('link', { name: /While it was broken/ }).waitFor();
    await eventually(() => expect(places.at(-1)).toEqual(expect.any(String)));
    await page.getByText('Live', { exact: true }).waitFor();
  });
});

describe('what is not there', () => {
  it('is said: a review that does not exist, and one of another project', async () => {
    const page = await chromium.pageOf(server.admin);
    await page.goto('/reviews/rev_01h455vb4pex5vsknk084sn02q');
    await page.getByRole('heading', { name: 'Review not found' }).waitFor();
    await page.goto('/reviews/nonsense');
    await page.getByRole('heading', { name: 'Review not found' }).waitFor();
  });

  it('is said of a list without reviews', async () => {
    const page = await chromium.pageOf(server.admin);
    await page.goto('/?status=archived');
    await page.getByRole('heading', { name: 'No reviews' }).waitFor();
  });
});

describe('many tabs', () => {
  it('share one stream, and go on when the tab that held it closes', async () => {
    const first = await chromium.pageOf(server.admin);
    const streams: string[] = [];
    first.context().on('request', (request) => {
      if (request.url().includes('/events/stream')) streams.push(request.url());
    });
    const tabs = [first];
    for (let i = 0; i < 7; i++) tabs.push(await first.context().newPage());
    for (const tab of tabs) {
      await tab.goto('/');
      await tab.getByText('Live', { exact: true }).waitFor();
    }
    expect(streams).toHaveLength(1);
    await server.askEmail('To every tab');
    for (const tab of tabs) await tab.getByRole('link', { name: /To every tab/ }).waitFor();
    await first.close();
    await eventually(() => expect(streams).toHaveLength(2));
    await server.askEmail('To every tab that is left');
    for (const tab of tabs.slice(1)) await tab.getByRole('link', { name: /To every tab that is left/ }).waitFor();
  });
});
