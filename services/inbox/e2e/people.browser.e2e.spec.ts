/** Who sees and may do what: several projects, roles, somebody who has to choose a password, somebody who asked for it themselves. */
import { beforeAll, describe, expect, it } from '@jest/globals';
import { approve, eventually, inboxTest } from './inbox-test.js';
import type { Person } from './server.js';

const { server, chromium } = inboxTest();

let second: { project: string; key: string };

beforeAll(async () => {
  const { id: project } = await server.operate<{ id: string }>('projects', 'create', 'Second');
  const scopes = ['reviews:create', 'reviews:read', 'templates:write'].flatMap((scope) => ['--scope', scope]);
  const { raw_key: key } = await server.operate<{ raw_key: string }>(
    'keys',
    'create',
    '--project',
    'second',
    '--name',
    'Other agent',
    ...scopes,
  );
  await server.operate('users', 'create', '--project', 'second', '--email', server.admin.email, '--role', 'reviewer');
  const fields = [{ name: 'subject', type: 'text', label: 'Subject', editable: true }];
  await server.call('POST', '/templates', { slug: 'note', name: 'Note', fields, actions: ['approve', 'reject'] }, key);
  second = { project, key };
});

const askSecond = (subject: string) =>
  server.call<{ id: string }>('POST', '/reviews', { template: 'note', payload: { subject } }, second.key);

describe('somebody of two projects', () => {
  it('sees one at a time, hears of both, and goes over', async () => {
    await server.askEmail('Of the first');
    await askSecond('Of the second');
    const page = await chromium.pageOf(server.admin);
    await page.goto('/');
    await page.getByRole('link', { name: /Of the first/ }).waitFor();
    expect(await page.getByRole('link', { name: /Of the second/ }).count()).toBe(0);
    await page.getByRole('combobox', { name: 'Project' }).selectOption('Second');
    await page.getByRole('link', { name: /Of the second/ }).waitFor();
    expect(await page.getByRole('link', { name: /Of the first/ }).count()).toBe(0);
    await askSecond('Live of the second');
    await page.getByRole('link', { name: /Live of the second/ }).waitFor();
    await page.reload();
    await page.getByRole('link', { name: /Live of the second/ }).waitFor();
  });

  it('is brought to a review’s own project by its address, and decides in their role there', async () => {
    const { id } = await askSecond('By its address');
    const page = await chromium.pageOf(server.admin);
    await page.goto(`/reviews/${id}`);
    await page.getByRole('heading', { level: 1, name: 'By its address' }).waitFor();
    const project = page.getByRole('combobox', { name: 'Project' });
    expect(await project.locator('option:checked').textContent()).toBe('Second');
    await approve(page);
    await page.locator('.outcome').waitFor();
    expect(await server.call('GET', `/reviews/${id}`, undefined, second.key)).toMatchObject({
      decision: 'approved',
      decided_by: server.admin.email,
    });
  });
});

describe('somebody of another project', () => {
  it('is told that a review does not exist, and not that it does', async () => {
    const only = await server.invite('only-first');
    const { id } = await askSecond('Not for everybody');
    const page = await chromium.pageOf(only);
    await page.goto(`/reviews/${id}`);
    await page.getByRole('heading', { name: 'Review not found' }).waitFor();
  });
});

describe('somebody who comes by a recovery link', () => {
  it('chooses a password before anything else is open', async () => {
    const email = 'nora@example.org';
    const { sign_in_url } = await server.operate<{ sign_in_url: string }>(
      'users',
      'create',
      '--project',
      'demo',
      '--email',
      email,
      '--name',
      'Nora',
    );
    const page = await (await chromium.context()).newPage();
    await page.goto(sign_in_url);
    await page.getByRole('heading', { name: 'Choose a password' }).waitFor();
    expect(await page.getByLabel('Current password').count()).toBe(0);
    await page.getByLabel('New password').fill('password1234');
    await page.getByRole('button', { name: 'Save and continue' }).click();
    await page.getByRole('alert').filter({ hasText: 'too common' }).waitFor();
    const nora: Person = { email, password: 'a sentence that nobody guesses', name: 'Nora' };
    await page.getByLabel('New password').fill(nora.password);
    await page.getByRole('button', { name: 'Save and continue' }).click();
    await page.getByRole('navigation', { name: 'Reviews', exact: true }).waitFor();
    const again = await chromium.pageOf(nora);
    await again.goto('/');
    await again.getByLabel('Account: Nora').waitFor();
  });
});

describe('somebody who wants another password', () => {
  it('changes it in the account menu, which ends their sessions everywhere else', async () => {
    const pia = await server.invite('pia');
    const [page, elsewhere] = [await chromium.pageOf(pia), await chromium.pageOf(pia)];
    for (const one of [page, elsewhere]) {
      await one.goto('/');
      await one.getByText('Live', { exact: true }).waitFor();
    }
    const menu = page.getByLabel('Account: pia');
    await menu.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Change password' }).press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Change password' });
    const next = 'an entirely new secret';
    await dialog.getByLabel('Current password').fill('not the one');
    await dialog.getByLabel('New password').fill(next);
    await page.keyboard.press('Enter');
    await dialog.getByRole('alert').filter({ hasText: 'The current password is wrong.' }).waitFor();
    await dialog.getByLabel('Current password').fill(pia.password);
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Password changed' }).waitFor();
    await elsewhere.getByRole('dialog', { name: 'You were signed out' }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await eventually(async () => expect(await menu.evaluate((button) => button === document.activeElement)).toBe(true));
    await server.askEmail('After the change');
    await page.getByRole('link', { name: /After the change/ }).waitFor();
    await expect(chromium.pageOf(pia)).rejects.toThrow(/invalid_credentials/);
    await chromium.pageOf({ ...pia, password: next });
  });
});

describe('somebody for whom the agent asked', () => {
  it('is told that another person has to approve, and may still say no', async () => {
    const { id } = await server.askEmail('On my behalf', { on_behalf_of: server.admin.email });
    const page = await chromium.pageOf(server.admin);
    await page.goto(`/reviews/${id}`);
    await page.getByText('you, so someone else must approve it').waitFor();
    await approve(page);
    await page.getByText('Someone else must approve this').waitFor();
    expect((await server.read(id)).status).toBe('pending');
    await page.getByLabel('Feedback to the agent').fill('Not any more');
    await page.getByRole('button', { name: 'Reject', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Reject', exact: true }).click();
    await page.locator('.outcome').waitFor();
    expect((await server.read(id)).decision).toBe('rejected');
  });
});
