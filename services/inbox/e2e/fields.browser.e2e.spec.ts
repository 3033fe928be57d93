/** Every type of field in Chromium: shown, edited, and received by the agent as it was meant. */

import type { TemplateCreate } from '@countersign/contracts';
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { approve, eventually, inboxTest } from './inbox-test.js';

const { server, chromium } = inboxTest();

const PIXEL = 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const OPTIONS = ['EUR', 'USD', 'GBP'];

const template = (slug: string, editable: boolean): TemplateCreate => ({
  slug,
  name: 'Every type',
  fields: [
    { name: 'title', type: 'text', label: 'Title', editable, required: true },
    { name: 'description', type: 'markdown', label: 'Description', editable },
    { name: 'attributes', type: 'json', label: 'Attributes', editable },
    { name: 'price', type: 'number', label: 'Price', editable, required: true },
    { name: 'currency', type: 'select', label: 'Currency', options: OPTIONS, editable },
    { name: 'condition', type: 'buttons', label: 'Condition', options: ['New', 'Used'], editable },
    { name: 'in_stock', type: 'boolean', label: 'In stock', editable },
    { name: 'from', type: 'date', label: 'Available from', editable },
    { name: 'at', type: 'date', label: 'Published at', editable },
    { name: 'page', type: 'url', label: 'Page', editable },
    { name: 'photo', type: 'image', label: 'Photo', editable },
    { name: 'clip', type: 'video', label: 'Clip', editable },
    { name: 'note', type: 'text', label: 'Note', editable },
  ],
  actions: ['approve', 'reject', { id: 'flag', label: 'Flag for legal', kind: 'side_effect' }],
});

const PAYLOAD = {
  title: 'Dripper\nsize 02',
  description: '# Heading\n\nSome **bold** words.',
  attributes: { colour: 'white', sizes: [1, 2] },
  price: 24.9,
  currency: 'EUR',
  condition: 'New',
  in_stock: true,
  from: '2026-12-04',
  at: '2026-12-04T09:30:00+01:00',
  page: 'https://shop.example/items/2',
  photo: PIXEL,
  clip: 'data:video/mp4;base64,AAAAIGZ0eXA=',
  internal_ref: 'batch-4471',
  nested: { margin: 0.55 },
};

beforeAll(async () => {
  await server.publish(template('every-type', true));
  await server.publish(template('every-type-shown', false));
});

async function opened(slug: string): Promise<{ page: Page; id: string }> {
  const { id } = await server.ask(slug, PAYLOAD);
  const page = await chromium.pageOf(server.admin);
  await page.goto(`/reviews/${id}`);
  await page.locator('.action-bar').waitFor();
  return { page, id };
}

/** Runs in a page: a moment of a canvas, as a `data:` address. */
async function recordVideo(): Promise<string> {
  const canvas = Object.assign(document.createElement('canvas'), { width: 64, height: 48 });
  const draw = canvas.getContext('2d');
  const recorder = new MediaRecorder(canvas.captureStream(30), { mimeType: 'video/webm' });
  const parts: Blob[] = [];
  recorder.ondataavailable = ({ data }) => parts.push(data);
  recorder.start();
  for (let i = 0; i < 12; i++) {
    draw?.fillRect(i * 5, 0, 5, 48);
    await new Promise((next) => requestAnimationFrame(next));
  }
  await new Promise((stopped) => {
    recorder.onstop = stopped;
    recorder.stop();
  });
  const bytes = new Uint8Array(await new Blob(parts).arrayBuffer());
  return `data:video/webm;base64,${btoa(String.fromCharCode(...bytes))}`;
}

const field = (page: Page, name: string) => page.locator(`[data-field="${name}"]`);

describe('fields that are only shown', () => {
  it('show each value by its type, and no control to change it', async () => {
    const { page } = await opened('every-type-shown');
    await page.getByRole('heading', { name: 'Heading' }).waitFor();
    expect(await field(page, 'title').locator('.value').textContent()).toBe('Dripper\nsize 02');
    expect(await field(page, 'description').locator('strong').textContent()).toBe('bold');
    expect(JSON.parse((await field(page, 'attributes').locator('pre').textContent()) ?? '')).toEqual(PAYLOAD.attributes);
    expect(await field(page, 'price').textContent()).toContain('24.9');
    expect(await field(page, 'in_stock').textContent()).toContain('Yes');
    expect(await field(page, 'from').textContent()).toMatch(/Fri,? 4 December 2026/);
    const link = field(page, 'page').getByRole('link');
    expect([await link.getAttribute('href'), await link.getAttribute('rel')]).toEqual([PAYLOAD.page, 'noopener noreferrer nofollow']);
    expect(
      await field(page, 'photo')
        .locator('img')
        .evaluate((image: HTMLImageElement) => image.naturalWidth),
    ).toBe(1);
    expect(await field(page, 'clip').textContent()).toContain('The video could not be loaded.');
    expect(await field(page, 'note').textContent()).toContain('Not sent');
    expect(await page.locator('.fields').locator('textarea, select, input[type=text], input[type=date]').count()).toBe(0);
  });

  it('play a video that was sent along', async () => {
    const recorder = await (await chromium.context()).newPage();
    await recorder.goto('/login');
    const clip = await recorder.evaluate(recordVideo);
    const { id } = await server.ask('every-type-shown', { ...PAYLOAD, clip });
    const page = await chromium.pageOf(server.admin);
    await page.goto(`/reviews/${id}`);
    const video = field(page, 'clip').locator('video');
    await eventually(async () => expect(await video.evaluate((player: HTMLVideoElement) => player.videoWidth)).toBe(64));
    expect(await video.getAttribute('src')).toMatch(/^blob:/);
  });

  it('keep what the template does not declare apart', async () => {
    const { page } = await opened('every-type');
    const apart = page.getByRole('region', { name: 'Additional values' });
    expect(await apart.textContent()).toMatch(/internal_ref.*"batch-4471".*nested/s);
    expect(await apart.locator('textarea, input, select').count()).toBe(0);
  });

  it('show the source of a text as well as its form', async () => {
    const { page } = await opened('every-type-shown');
    await field(page, 'description').getByText('Source').click();
    expect(await field(page, 'description').locator('pre').textContent()).toBe(PAYLOAD.description);
  });
});

describe('fields that may be edited', () => {
  it('send each value as its type', async () => {
    const { page, id } = await opened('every-type');
    await page.getByRole('textbox', { name: 'Title' }).fill('Another title');
    await field(page, 'description').getByText('Edit').click();
    await page.getByRole('textbox', { name: 'Description' }).fill('Plain');
    await page.getByRole('textbox', { name: 'Attributes' }).fill('{"colour": "black", "sizes": []}');
    await page.getByRole('textbox', { name: 'Price' }).fill('19.50');
    await page.getByRole('combobox', { name: 'Currency' }).selectOption('GBP');
    await page.getByRole('radiogroup', { name: 'Condition' }).getByText('Used').click();
    await page.getByRole('radiogroup', { name: 'In stock' }).getByText('No', { exact: true }).click();
    await page.getByLabel('Available from').fill('2027-01-15');
    await page.getByRole('textbox', { name: 'Published at' }).fill('2027-01-15T10:00:00Z');
    await page.getByRole('textbox', { name: 'Page' }).fill('https://shop.example/items/3');
    await page.getByRole('textbox', { name: 'Note' }).fill('Added');
    await approve(page);
    await page.locator('.outcome').waitFor();
    expect((await server.read(id)).approved_value).toEqual({
      ...PAYLOAD,
      title: 'Another title',
      description: 'Plain',
      attributes: { colour: 'black', sizes: [] },
      price: 19.5,
      currency: 'GBP',
      condition: 'Used',
      in_stock: false,
      from: '2027-01-15',
      at: '2027-01-15T10:00:00Z',
      page: 'https://shop.example/items/3',
      note: 'Added',
    });
  });

  it.each([
    ['Price', '12,', 'Enter a number'],
    ['Price', '9007199254740993', 'too many digits to be stored exactly'],
    ['Price', '', 'This field is required'],
    ['Title', ' ', 'This field is required'],
    ['Attributes', '{"a":', 'Invalid JSON'],
    ['Attributes', '{"a": 9007199254740993}', 'put it in quotes'],
    ['Attributes', '{"a":1,"a":2}', 'The key "a" is there twice'],
    ['Published at', 'tomorrow', 'Enter a date'],
    ['Page', 'javascript:alert(1)', 'Enter a URL'],
  ])('%s: %j cannot be sent, and says why', async (label, text, why) => {
    const { page, id } = await opened('every-type');
    const input = page.getByRole('textbox', { name: label });
    await input.fill(text);
    await page.getByText(why).first().waitFor();
    await page.getByRole('button', { name: 'Approve', exact: true }).click();
    await eventually(async () => expect(await page.getByTestId('announcer').textContent()).toContain('Fix your edits first'));
    expect(await input.evaluate((element) => element === document.activeElement)).toBe(true);
    expect((await server.read(id)).status).toBe('pending');
  });

  it.each(['{"a": 999}', '{"a":'])('%s in place of JSON is gone once it is reverted, alone or with the rest', async (text) => {
    const { page, id } = await opened('every-type');
    const input = page.getByRole('textbox', { name: 'Attributes' });
    const before = await input.inputValue();
    expect(JSON.parse(before)).toEqual(PAYLOAD.attributes);
    for (const revert of ['Revert Attributes', 'Revert all']) {
      await input.fill(text);
      await page.getByRole('textbox', { name: 'Title' }).fill('Another title');
      await page.getByRole('button', { name: revert }).click();
      expect(await input.inputValue()).toBe(before);
    }
    await approve(page);
    await page.locator('.outcome').waitFor();
    expect((await server.read(id)).approved_value).toEqual(PAYLOAD);
  });

  it.each([
    ['with one part deleted', PAYLOAD.from, ['Backspace']],
    ['that does not exist', '2020-01-01', ['0', '2', '3', '0']],
    ['half typed where there was none', undefined, ['0', '2']],
  ])('a date %s cannot be sent as none, and can be reverted', async (_, from, keys) => {
    const { id, payload } = await server.ask('every-type', { ...PAYLOAD, from });
    const page = await chromium.pageOf(server.admin);
    await page.goto(`/reviews/${id}`);
    const input = page.getByRole('textbox', { name: 'Available from' });
    await input.focus();
    for (const key of keys) await page.keyboard.press(key);
    expect(await input.evaluate((element: HTMLInputElement) => element.validity.badInput)).toBe(true);
    await page.getByText('This date is incomplete or does not exist').waitFor();
    await page.getByRole('button', { name: 'Approve', exact: true }).click();
    await eventually(async () => expect(await page.getByTestId('announcer').textContent()).toContain('Fix your edits first'));
    expect((await server.read(id)).status).toBe('pending');
    await page.getByRole('button', { name: 'Revert Available from' }).click();
    expect(await input.evaluate((element: HTMLInputElement) => [element.value, element.validity.badInput])).toEqual([from ?? '', false]);
    await approve(page);
    await page.locator('.outcome').waitFor();
    expect(await server.read(id)).toMatchObject({ decision: 'approved', approved_value: payload });
  });

  it('take a date that is completed after all, and one that is cleared', async () => {
    const { page, id } = await opened('every-type');
    const input = page.getByRole('textbox', { name: 'Available from' });
    await input.focus();
    for (const key of ['0', '2', '3', '0']) await page.keyboard.press(key);
    await page.getByText('This date is incomplete or does not exist').waitFor();
    await page.keyboard.press('ArrowLeft');
    for (const key of ['2', '8']) await page.keyboard.press(key);
    await eventually(async () => expect((await server.readAs(id)).draft_payload).toEqual({ from: '2026-02-28' }));
    await input.fill('');
    await eventually(async () => expect((await server.readAs(id)).draft_payload).toEqual({ from: null }));
  });

  it('keep their edits when an action does not take them up', async () => {
    const { page, id } = await opened('every-type');
    await page.getByRole('textbox', { name: 'Title' }).fill('Kept');
    await page.getByText(/^Draft saved/).waitFor();
    await page.getByRole('button', { name: 'Flag for legal' }).click();
    await page.getByRole('status').filter({ hasText: 'Flag for legal' }).waitFor();
    expect(await page.getByRole('textbox', { name: 'Title' }).inputValue()).toBe('Kept');
    // The server drops a draft with whatever is done; the page saves it again.
    await eventually(async () => expect((await server.readAs(id)).draft_payload).toEqual({ title: 'Kept' }));
    expect((await server.read(id)).last_action_id).toBe('flag');
  });

  it('keep half a number and the feedback over a reload', async () => {
    const { page } = await opened('every-type');
    await page.getByRole('textbox', { name: 'Price' }).fill('12,');
    await page.getByLabel('Feedback to the agent').fill('Not finished');
    await page.reload();
    await page.locator('.action-bar').waitFor();
    expect(await page.getByRole('textbox', { name: 'Price' }).inputValue()).toBe('12,');
    expect(await page.getByLabel('Feedback to the agent').inputValue()).toBe('Not finished');
  });

  it('come back from the server’s draft in another browser', async () => {
    const { page, id } = await opened('every-type');
    await page.getByRole('textbox', { name: 'Price' }).fill('18');
    await eventually(async () => expect((await server.readAs(id)).draft_payload).toEqual({ price: 18 }));
    const elsewhere = await chromium.pageOf(server.admin);
    await elsewhere.goto(`/reviews/${id}`);
    await eventually(async () => expect(await elsewhere.getByRole('textbox', { name: 'Price' }).inputValue()).toBe('18'));
    await elsewhere.getByRole('button', { name: 'Revert Price' }).click();
    await eventually(async () => expect((await server.readAs(id)).draft_payload).toBeNull());
  });
});

describe('a page of a template', () => {
  it('has its instructions drawn, an empty text named, and an editable address to be opened', async () => {
    await server.publish({
      slug: 'instructed',
      name: 'Instructed',
      instructions: 'Check **each** field.',
      fields: [
        { name: 'title', type: 'text', label: 'Title', editable: true },
        { name: 'body', type: 'markdown', label: 'Body', editable: true },
        { name: 'page', type: 'url', label: 'Page', editable: true },
      ],
      actions: ['approve', 'reject'],
    });
    const { id } = await server.ask('instructed', { title: 'Instructed', body: '', page: 'https://shop.example/items/3' });
    const page = await chromium.pageOf(server.admin);
    await page.goto(`/reviews/${id}`);
    await page.locator('.instructions strong').getByText('each', { exact: true }).waitFor();
    expect(await page.locator('[data-field="body"] .value-none').textContent()).toBe('Empty');
    const link = page.locator('[data-field="page"]').getByRole('link', { name: 'Open shop.example' });
    expect(await link.getAttribute('href')).toBe('https://shop.example/items/3');
    await page.getByRole('textbox', { name: 'Page' }).fill('javascript:alert(1)');
    await link.waitFor({ state: 'detached' });
  });
});
