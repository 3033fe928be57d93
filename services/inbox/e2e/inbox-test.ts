import { afterAll, afterEach, beforeAll, expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { Chromium } from './browser.js';
import { Server } from './server.js';

/** One server and one browser for a file of tests; after each test nothing may have gone wrong on a page. */
export function inboxTest(): { server: Server; chromium: Chromium } {
  const server = new Server();
  const chromium = new Chromium(server);
  beforeAll(async () => {
    await server.start();
    await chromium.start();
  });
  afterEach(async () => {
    await chromium.closePages();
    expect(chromium.faults.splice(0)).toEqual([]);
  });
  afterAll(async () => {
    await chromium.close();
    await server.close();
  });
  return { server, chromium };
}

const PATIENCE_MS = 15_000;

/** Waits until a check passes; fails with what it said last. */
export async function eventually(check: () => unknown): Promise<void> {
  for (const deadline = Date.now() + PATIENCE_MS; ; ) {
    try {
      await check();
      return;
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await new Promise((later) => setTimeout(later, 50));
    }
  }
}

/** Waits until what came last takes a press: for keys, which nothing holds back as the browser holds back a click of a test. */
export async function settled(page: Page): Promise<void> {
  await page.locator('[data-settling]').first().waitFor({ state: 'detached' });
}

/** Presses the templates' *Approve*, which asks nothing more. */
export async function approve(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Approve', exact: true }).click();
}
