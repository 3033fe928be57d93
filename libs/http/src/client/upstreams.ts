/**
 * The processes behind one service's name, and which of them is asked next.
 *
 * U1 Addresses are a list; a host name stands for every address DNS has for it, asked again every `RESOLVE_MS`.
 * U2 A process that says it is not ready, or cannot be connected to, is left out until it says that it is. When none is ready, all are tried:
 *    the caller is told what the process itself answers.
 * U3 Ready ones take turns.
 * U4 Whether a process is ready is asked only where it changes something: there is another one, and the service was called in the last
 *    `IDLE_MS`. Services that are idle leave each other alone.
 */
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { type Dispatcher, request } from 'undici';

const PROBE_MS = 1_000;
const PROBE_TIMEOUT_MS = 900;
const RESOLVE_MS = 5_000;
const IDLE_MS = 15_000;

export interface UpstreamsOptions {
  /** Origins, such as `http://intake:3100`. */
  urls: readonly string[];
  dispatcher: Dispatcher;
  resolve?: (hostname: string) => Promise<string[]>;
}

export class Upstreams {
  readonly #options: UpstreamsOptions;
  readonly #timers: NodeJS.Timeout[] = [];
  /** Origin → whether it is asked. */
  #origins: Map<string, boolean>;
  #turn = 0;
  #calledAt = Number.NEGATIVE_INFINITY;
  #resolved: Promise<void> | null = null;

  constructor(options: UpstreamsOptions) {
    this.#options = options;
    this.#origins = new Map(options.urls.filter((url) => !named(url)).map((url) => [new URL(url).origin, true]));
    this.#every(PROBE_MS, () => this.#probe());
    if (options.urls.some(named)) this.#every(RESOLVE_MS, () => this.#resolve());
  }

  /** An origin to ask, other than those that were tried if there is one; undefined when there is none at all. */
  async next(tried: ReadonlySet<string> = new Set()): Promise<string | undefined> {
    this.#calledAt = performance.now();
    if (this.#origins.size === 0) await this.#firstResolved();
    const ready = [...this.#origins].filter(([, asked]) => asked).map(([origin]) => origin);
    const candidates = ready.length > 0 ? ready : [...this.#origins.keys()];
    const untried = candidates.filter((origin) => !tried.has(origin));
    const choice = untried.length > 0 ? untried : candidates;
    return choice[this.#turn++ % Math.max(1, choice.length)];
  }

  /** No connection could be made, or it broke: left out until it says that it is ready. */
  failed(origin: string): void {
    if (this.#origins.has(origin)) this.#origins.set(origin, false);
  }

  close(): void {
    for (const timer of this.#timers) clearInterval(timer);
  }

  #every(ms: number, act: () => Promise<void>): void {
    let running = false;
    const timer = setInterval(async () => {
      if (running) return;
      running = true;
      await act().finally(() => {
        running = false;
      });
    }, ms);
    this.#timers.push(timer.unref());
  }

  /** U4. */
  async #probe(): Promise<void> {
    if (this.#origins.size < 2 || performance.now() - this.#calledAt > IDLE_MS) return;
    await Promise.all([...this.#origins.keys()].map(async (origin) => this.#set(origin, await this.#isReady(origin))));
  }

  async #isReady(origin: string): Promise<boolean> {
    try {
      const answer = await request(`${origin}/health/ready`, {
        dispatcher: this.#options.dispatcher,
        signal: AbortSignal.timeout(PROBE_TIMEOUT_MS),
      });
      await answer.body.dump();
      return answer.statusCode === 200;
    } catch {
      return false;
    }
  }

  #set(origin: string, ready: boolean): void {
    if (this.#origins.has(origin)) this.#origins.set(origin, ready);
  }

  #firstResolved(): Promise<void> {
    this.#resolved ??= this.#resolve().finally(() => {
      this.#resolved = null;
    });
    return this.#resolved;
  }

  /** U1. A name that cannot be resolved keeps the addresses it had. */
  async #resolve(): Promise<void> {
    const found = await Promise.all(this.#options.urls.map((url) => this.#originsOf(url)));
    if (found.some((origins) => origins === null)) {
      for (const origins of found) for (const origin of origins ?? []) if (!this.#origins.has(origin)) this.#origins.set(origin, true);
      return;
    }
    this.#origins = new Map(found.flatMap((origins) => origins ?? []).map((origin) => [origin, this.#origins.get(origin) ?? true]));
  }

  async #originsOf(url: string): Promise<string[] | null> {
    if (!named(url)) return [new URL(url).origin];
    const { protocol, hostname, port } = new URL(url);
    const { resolve = everyAddress } = this.#options;
    const addresses = await resolve(hostname).catch(() => null);
    return addresses && addresses.length > 0
      ? addresses.map(
          (address) => new URL(`${protocol}//${isIP(address) === 6 ? `[${address}]` : address}${port ? `:${port}` : ''}`).origin,
        )
      : null;
  }
}

const everyAddress = async (hostname: string): Promise<string[]> => (await lookup(hostname, { all: true })).map(({ address }) => address);

/** Whether the host is a name that has to be resolved. `https` needs the name for its certificate and keeps it. */
function named(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === 'http:' && isIP(hostname.replace(/^\[|\]$/g, '')) === 0;
}
