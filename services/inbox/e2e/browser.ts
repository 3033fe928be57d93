/** A real Chromium, watched: a page that runs what it must not, or breaks, is found out at the end of its test. */
import { mustBeNamed } from '@countersign/platform/fixture';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import type { Person, Server } from './server.js';

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export const DESKTOP = { width: 1280, height: 860 };
export const PHONE = { width: 390, height: 844 };

/** What the browser says of every answer of 400 and more; tests that cause them expect them. */
const STATUS_NOISE = /^Failed to load resource: (the server responded with a status of|net::ERR_)/;

export class Chromium {
  #browser: Browser | undefined;
  readonly #open: BrowserContext[] = [];
  /** What went wrong on any page: scripts that failed, dialogs, breaches of the Content Security Policy, requests to elsewhere. */
  readonly faults: string[] = [];

  constructor(private readonly server: Server) {}

  async start(): Promise<void> {
    mustBeNamed('browser');
    this.#browser = await chromium.launch({ executablePath: process.env.CHROMIUM_PATH ?? '/usr/bin/chromium', args: FLAGS });
  }

  async close(): Promise<void> {
    await this.#browser?.close();
  }

  /** Ends what a test opened. */
  async closePages(): Promise<void> {
    for (const context of this.#open.splice(0)) await context.close();
  }

  /** A browser of its own, with its own cookies. */
  async context(options: Parameters<Browser['newContext']>[0] = {}): Promise<BrowserContext> {
    const context = await (this.#browser as Browser).newContext({ baseURL: this.server.url, viewport: DESKTOP, ...options });
    context.setDefaultTimeout(15_000);
    this.#open.push(context);
    context.on('page', (page) => this.#watch(page));
    return context;
  }

  /** A page of somebody who is signed in. */
  async pageOf(person: Person, options: Parameters<Browser['newContext']>[0] = {}): Promise<Page> {
    const context = await this.context(options);
    const { email, password } = person;
    // As the inbox itself does: the cookie is set by the answer.
    const answer = await context.request.post('/api/v1/auth/login', {
      data: { email, password, cookie: true },
      headers: { origin: this.server.url },
    });
    if (!answer.ok()) throw new Error(`Sign-in returned ${answer.status()}: ${await answer.text()}`);
    return context.newPage();
  }

  #watch(page: Page): void {
    page.on('pageerror', (error) => this.faults.push(`error: ${error.message}`));
    page.on('dialog', (dialog) => {
      this.faults.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on('console', (message) => {
      const text = message.text();
      if (['error', 'warning'].includes(message.type()) && !STATUS_NOISE.test(text)) this.faults.push(`console: ${text}`);
    });
    page.on('request', (request) => {
      const url = new URL(request.url());
      const inside = url.origin === new URL(this.server.url).origin || url.protocol === 'data:' || url.protocol === 'blob:';
      if (!inside) this.faults.push(`request: ${request.url()}`);
    });
  }
}
