/** Deciding in Chromium, through the real server: what an agent asks for, what a person makes of it, what the agent gets. */
import { describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { approve, eventually, inboxTest, settled } from './inbox-test.js';

const { server, chromium } = inboxTest();

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const feedback = (page: Page) => page.getByLabel('Feedback to the agent');
const outcome = (page: Page) => page.locator('.outcome');

async function opened(id: string, person = server.admin): Promise<Page> {
  const page = await chromium.pageOf(person);
  await page.goto(`/reviews/${id}`);
  await page.locator('.action-bar').waitFor();
  return page;
}

describe('a review', () => {
  it('appears in an open list by itself, and leaves it once it is decided elsewhere', async () => {
    const page = await chromium.pageOf(server.admin);
    await page.goto('/');
    await page.getByText('Live', { exact: true }).waitFor();
    await page.evaluate(() => Object.assign(window, { notReloaded: true }));
    const { id } = await server.askEmail('Appears by itself');
    const row = page.getByRole('link', { name: /Appears by itself/ });
    await row.waitFor();
    expect(await row.textContent()).toContain('Demo agent');
    await eventually(async () => expect(await page.title()).toMatch(/^\(\d+\) Inbox/));
    await eventually(async () => expect(await page.getByTestId('announcer').textContent()).toBe('New: Appears by itself'));
    await server.act(id, 'approve');
    await row.waitFor({ state: 'detached' });
    expect(await page.evaluate(() => 'notReloaded' in window)).toBe(true);
  });

  it('is edited and approved: the agent gets its value merged with the edit', async () => {
    const { id } = await server.askEmail('Edit me');
    const page = await opened(id);
    await page.getByRole('textbox', { name: 'Subject' }).fill('Edited');
    await eventually(async () => expect((await server.readAs(id)).draft_payload).toEqual({ subject: 'Edited' }));
    await page.getByText(/^Draft saved/).waitFor();
    await feedback(page).fill('Shorter is better');
    await approve(page);
    await outcome(page).waitFor();
    expect(await outcome(page).textContent()).toContain('Approved with edits');
    expect(await server.readAs(id)).toMatchObject({
      status: 'decided',
      decision: 'edited',
      decided_by: server.admin.email,
      feedback: 'Shorter is better',
      shown: 'exact',
      approved_value: { to: 'ann@example.org', subject: 'Edited', body: 'About **Edit me**.' },
      draft_payload: null,
    });
    const { approved_digest } = await server.read(id);
    expect(await page.getByTitle(approved_digest as string).textContent()).toMatch(/^sha256:[0-9a-f]{6}…[0-9a-f]{6}$/);
    await page.getByText('What changed').click();
    expect(await page.locator('.was-and-is').textContent()).toMatch(/removed: Edit me.*added: Edited/);
  });

  it('that was not changed is approved as it is, whatever was typed and taken back', async () => {
    const { id, payload } = await server.askEmail('As it is');
    const page = await opened(id);
    await page.getByRole('textbox', { name: 'Subject' }).fill('Something else');
    await button(page, 'Revert Subject').click();
    await approve(page);
    await outcome(page).waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);
    expect(await server.read(id)).toMatchObject({ decision: 'approved', approved_value: payload, edited_payload: null });
  });

  it('is rejected with a reason, which is asked for first', async () => {
    const { id } = await server.askEmail('Reject me');
    const page = await opened(id);
    await page.getByRole('textbox', { name: 'Subject' }).fill('Not sent');
    await button(page, 'Reject').click();
    await page.getByText('Enter feedback first').waitFor();
    expect(await feedback(page).evaluate((input) => input === document.activeElement)).toBe(true);
    expect((await server.read(id)).status).toBe('pending');
    await page.keyboard.type('There is no such order.');
    await page.keyboard.press('Control+Enter');
    const dialog = page.getByRole('dialog', { name: 'Reject?' });
    expect(await dialog.textContent()).toMatch(/Your edits are not sent: Subject\..*There is no such order\./);
    await dialog.getByRole('button', { name: 'Reject' }).click();
    await outcome(page).waitFor();
    expect(await page.getByRole('region', { name: 'Your unsent input' }).textContent()).toMatch(/SubjectNot sent$/);
    expect(await server.read(id)).toMatchObject({ decision: 'rejected', feedback: 'There is no such order.', approved_value: null });
  });

  it('goes back to the agent and comes again as another version, shown with what changed', async () => {
    const { id } = await server.askEmail('First try', { max_iterations: 5 });
    const page = await opened(id);
    await page.getByRole('textbox', { name: 'Subject' }).fill('A suggestion');
    await page.getByText('go to the agent as a suggestion with “Request changes”').waitFor();
    await feedback(page).fill('Friendlier, please');
    await button(page, 'Request changes').click();
    await page.getByRole('heading', { name: 'Waiting for the agent' }).waitFor();
    expect(await page.locator('.awaited').textContent()).toContain('Friendlier, please');
    expect(await feedback(page).inputValue()).toBe('');
    const asked = { feedback: 'Friendlier, please', edited_payload: { subject: 'A suggestion' } };
    expect((await server.read(id)).change_request).toMatchObject(asked);
    await page.getByText('Suggested edits: Subject').click();
    expect(await page.locator('.awaited').textContent()).toMatch(/removed: First try.*added: A suggestion/);
    expect(await page.locator('.facts').textContent()).toContain('Change requests1 of 5');
    await server.resubmit(id, { to: 'ann@example.org', subject: 'Second try', body: 'About **First try**.' });
    await button(page, 'Show version 2').waitFor();
    await page.getByRole('heading', { name: 'Waiting for you' }).waitFor();
    expect(await page.getByText(/Waiting for the agent|when the next version is there/).count()).toBe(0);
    await button(page, 'Show version 2').click();
    await page.getByText('You are now looking at version 2').waitFor();
    await eventually(async () => expect(await page.evaluate(() => document.activeElement?.className)).toMatch(/^notices/));
    const versions = page.locator('.versions');
    await versions.getByText('Version 2 against 1').waitFor();
    expect(await versions.textContent()).toMatch(/Friendlier, please.*removed: First.*added: Second/);
    expect(await page.getByRole('textbox', { name: 'Subject' }).inputValue()).toBe('Second try');
    await approve(page);
    await outcome(page).waitFor();
    expect(await server.read(id)).toMatchObject({ decision: 'approved', current_version: 2, approved_value: { subject: 'Second try' } });
  });

  it('can be taken back from the agent, with what was typed', async () => {
    const { id } = await server.askEmail('Take back');
    const page = await opened(id);
    await page.getByRole('textbox', { name: 'Subject' }).fill('A suggestion');
    await feedback(page).fill('Friendlier, please');
    await button(page, 'Request changes').click();
    await eventually(async () => expect(await page.evaluate(() => document.activeElement?.className)).toBe('panel'));
    await button(page, 'Cancel the request for changes').click();
    await page.getByRole('heading', { name: 'Your decision' }).waitFor();
    await page.locator('.notices').getByText('Request for changes taken back', { exact: true }).waitFor();
    expect(await feedback(page).inputValue()).toBe('Friendlier, please');
    expect(await page.getByRole('textbox', { name: 'Subject' }).inputValue()).toBe('A suggestion');
    expect((await server.read(id)).status).toBe('pending');
  });

  it('taken back by another person leaves the words to their author', async () => {
    const fay = await server.invite('fay-who-asks');
    const { id } = await server.askEmail('Take back another’s');
    await server.act(id, 'request_changes', { feedback: 'Not mine' }, fay);
    const page = await opened(id);
    await button(page, 'Cancel the request for changes').click();
    await page.getByRole('heading', { name: 'Your decision' }).waitFor();
    expect(await feedback(page).inputValue()).toBe('');
  });

  it('is rejected while the agent works on it only after a question, for a reason, and says what had been requested', async () => {
    const { id } = await server.askEmail('Reject meanwhile');
    await server.act(id, 'request_changes', { feedback: 'Shorter, please' });
    const page = await opened(id);
    await button(page, 'Reject').click();
    const dialog = page.getByRole('dialog', { name: 'Reject?' });
    await dialog.getByRole('button', { name: 'Reject' }).click();
    await dialog.getByText('Enter the reason first').waitFor();
    expect((await server.read(id)).status).toBe('awaiting_iteration');
    await dialog.getByLabel('Reason').fill('The order was cancelled.');
    await dialog.getByRole('button', { name: 'Reject' }).click();
    await outcome(page).waitFor();
    const told = /Rejected.*The order was cancelled\..*You requested changes.*The agent had not answered yet\..*Shorter, please/;
    expect(await outcome(page).textContent()).toMatch(told);
    expect(await server.read(id)).toMatchObject({ decision: 'rejected', feedback: 'The order was cancelled.' });
    await page.reload();
    await outcome(page).waitFor();
    expect(await outcome(page).textContent()).toMatch(told);
  });
});

describe('when something moves under the person', () => {
  it('the version they look at stays until they turn to the next, with what they typed', async () => {
    const { id } = await server.askEmail('Moves');
    await server.act(id, 'request_changes', { feedback: 'Again' });
    const page = await opened(id);
    await feedback(page).fill('Half a sentence');
    await server.resubmit(id, { to: 'ann@example.org', subject: 'Moved', body: 'x' });
    await page.getByText('The agent has submitted version 2').waitFor();
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Moves');
    expect(await button(page, 'Reject').isDisabled()).toBe(true);
    await button(page, 'Show version 2').click();
    await eventually(async () => expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Moved'));
    expect(await feedback(page).inputValue()).toBe('Half a sentence');
  });

  it('of two who decide at once one wins, and the other learns by whom and keeps their words', async () => {
    const ann = await server.invite('ann-at-once');
    const { id } = await server.askEmail('At once');
    const [winner, loser] = [await opened(id, ann), await opened(id)];
    await loser.getByRole('textbox', { name: 'Subject' }).fill('My wording');
    await feedback(loser).fill('My reason');
    // The loser's page does not hear of it before it sends: as if both had pressed in the same moment.
    await loser.route('**/action', async (route) => {
      await approve(winner);
      await outcome(winner).waitFor();
      await route.continue();
    });
    await approve(loser);
    const alert = loser.getByRole('alert').filter({ hasText: 'Already decided' });
    await alert.waitFor();
    expect(await alert.textContent()).toMatch(/approved by ann-at-once@example\.org/);
    await outcome(loser).waitFor();
    const left = loser.getByRole('region', { name: 'Your unsent input' });
    expect(await left.textContent()).toMatch(/My reason.*My wording/);
    expect(await server.read(id)).toMatchObject({ decision: 'approved', decided_by: ann.email, feedback: null });
  });

  it('the deadline passes: the page says so without being asked', async () => {
    const { id } = await server.askEmail('Too late', { timeout: { seconds: 3600, action: 'expire' } });
    const page = await opened(id);
    expect(await page.locator('.review-deadline').textContent()).toMatch(/expires in (1 h 00|59) min/);
    await server.advanceClock(3601);
    await outcome(page).waitFor();
    expect(await outcome(page).textContent()).toMatch(/Expired.*The deadline passed without a decision/);
    expect(await page.locator('.action-bar').count()).toBe(0);
  });

  it('a repeat of the same click after a lost answer is the same decision', async () => {
    const { id } = await server.askEmail('Lost answer');
    const page = await opened(id);
    let lost = false;
    await page.route('**/action', async (route) => {
      if (lost) return route.continue();
      lost = true;
      await route.fetch();
      return route.abort();
    });
    // The stream would tell; this page has lost it as well.
    await page.route(`**/api/v1/reviews/${id}`, (route) => (lost && route.request().method() === 'GET' ? route.abort() : route.continue()));
    await approve(page);
    await page.getByText('It is safe to submit again').waitFor();
    await approve(page);
    await outcome(page).waitFor();
    expect(await outcome(page).textContent()).toContain('You (');
  });
});

describe('before something that cannot be undone', () => {
  it('the page asks, naming it, and does nothing by an Enter too many', async () => {
    const payload = { summary: 'Drop the table', command: 'DROP TABLE sessions' };
    const { id } = await server.ask('production-change', payload, { irreversibility: 'irreversible' });
    const page = await opened(id);
    expect(await page.locator('.review-badges').textContent()).toContain('Cannot be undone');
    await button(page, 'Approve').click();
    const dialog = page.getByRole('dialog', { name: 'Approve? This cannot be undone.' });
    expect(await dialog.textContent()).toMatch(/Production change.*Drop the table.*DROP TABLE sessions.*it cannot be undone\./);
    await settled(page);
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    expect(await button(page, 'Approve').evaluate((element) => element === document.activeElement)).toBe(true);
    expect((await server.read(id)).status).toBe('pending');
    await button(page, 'Approve').click();
    await button(page, 'Approve permanently').click();
    await outcome(page).waitFor();
    expect(await server.read(id)).toMatchObject({ decision: 'approved', shown: 'exact' });
  });
});

describe('holding a review', () => {
  it('keeps others from deciding, until it is released or an admin takes it over', async () => {
    const ben = await server.invite('ben-who-holds');
    const { id } = await server.askEmail('Held');
    const [holder, admin] = [await opened(id, ben), await opened(id)];
    await button(holder, 'Claim').click();
    await holder.getByText('You have claimed this review').waitFor();
    await admin.getByText('ben-who-holds@example.org has claimed this review').waitFor();
    expect(await button(admin, 'Approve').isDisabled()).toBe(true);
    expect(await admin.getByRole('textbox', { name: 'Subject' }).count()).toBe(0);
    await button(admin, 'Take over').click();
    await admin.getByText('You have claimed this review').waitFor();
    await holder.getByText(`${server.admin.email} has claimed this review`).waitFor();
    expect(await button(holder, 'Take over').count()).toBe(0);
    await button(admin, 'Release').click();
    await holder.getByText('Unclaimed').waitFor();
    await approve(holder);
    await outcome(holder).waitFor();
    expect((await server.read(id)).decided_by).toBe(ben.email);
  });

  it('offers the edits somebody else left, before one’s own take their place', async () => {
    const cleo = await server.invite('cleo-who-edits');
    const { id } = await server.askEmail('Two authors');
    const theirs = await opened(id, cleo);
    await theirs.getByRole('textbox', { name: 'Subject' }).fill('Cleo’s wording');
    await theirs.getByText(/^Draft saved/).waitFor();
    const page = await opened(id);
    await page.getByText('cleo-who-edits left draft edits').waitFor();
    expect(await page.getByRole('textbox', { name: 'Subject' }).inputValue()).toBe('Two authors');
    await button(page, 'Use them').click();
    expect(await page.getByRole('textbox', { name: 'Subject' }).inputValue()).toBe('Cleo’s wording');
    await approve(page);
    await outcome(page).waitFor();
    expect(await server.read(id)).toMatchObject({ decision: 'edited', approved_value: { subject: 'Cleo’s wording' } });
  });
});
