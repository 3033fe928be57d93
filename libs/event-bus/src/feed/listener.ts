/**
 * A connection that does nothing but LISTEN. It needs one of its own, direct to the server: a pooled connection, or one through a proxy
 * that pools transactions, would not hear.
 *
 * N1 A notification is a hint. Whoever waits for one also polls; nothing is lost while this connection is down, only later.
 * N2 A lost connection is replaced, with delays that grow to 5 s. After each connect `onNotify` is called once for every channel, since
 *    what was said meanwhile was not heard.
 * N3 Each connection holds an advisory lock of its own for as long as it lasts: how others know that this process is there.
 */
import { randomInt } from 'node:crypto';
import { clientConfig } from '@countersign/database';
import type { Logger } from '@countersign/telemetry';
import pg from 'pg';

const FIRST_DELAY_MS = 100;
const LONGEST_DELAY_MS = 5_000;
const CONNECT_MS = 5_000;

export class Listener {
  readonly #options: { connectionString: string; channels: string[]; onNotify(channel: string): void; logger: Logger };
  #client: pg.Client | null = null;
  #connected = false;
  #session: number | null = null;
  #closed = false;
  #attempts = 0;
  #retry: NodeJS.Timeout | undefined;
  #connecting: Promise<void> = Promise.resolve();

  constructor(options: { connectionString: string; channels: string[]; onNotify(channel: string): void; logger: Logger }) {
    this.#options = options;
  }

  get connected(): boolean {
    return this.#connected;
  }

  /** Second key of the advisory lock the connection holds; null without a connection. */
  get session(): number | null {
    return this.#session;
  }

  /** Resolves after the first try, whether it connected or not. */
  start(): Promise<void> {
    this.#connecting = this.#connect();
    return this.#connecting;
  }

  /** Drops a connection that seems deaf and opens another. */
  reconnect(): void {
    if (!this.#connected) return;
    this.#options.logger.warn('notifications did not arrive: the listening connection is replaced');
    this.#lost(this.#client);
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#retry);
    await this.#connecting;
    await this.#client?.end().catch(() => {});
    this.#client = null;
    this.#connected = false;
    this.#session = null;
  }

  async #connect(): Promise<void> {
    const client = new pg.Client({
      ...clientConfig({ connectionString: this.#options.connectionString, applicationName: 'countersign listener' }),
      connectionTimeoutMillis: CONNECT_MS,
      query_timeout: CONNECT_MS,
    });
    client.on('error', () => this.#lost(client));
    client.on('end', () => this.#lost(client));
    client.on('notification', ({ channel }) => this.#options.onNotify(channel));
    this.#client = client;
    try {
      await client.connect();
      await client.query(this.#options.channels.map((channel) => `listen ${client.escapeIdentifier(channel)}`).join('; '));
      const session = randomInt(2 ** 31);
      await client.query('select pg_advisory_lock(event_bus.session_class(), $1)', [session]);
      if (this.#client !== client) return;
      this.#connected = true;
      this.#session = session;
      this.#attempts = 0;
      for (const channel of this.#options.channels) this.#options.onNotify(channel);
    } catch (error) {
      this.#options.logger.warn({ err: error }, 'cannot listen for notifications: events are polled until it works');
      this.#lost(client);
    }
  }

  #lost(client: pg.Client | null): void {
    if (client === null || this.#client !== client) return;
    this.#client = null;
    this.#connected = false;
    this.#session = null;
    client.end().catch(() => {});
    if (this.#closed) return;
    const delay = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** this.#attempts++);
    this.#retry = setTimeout(() => {
      this.#connecting = this.#connect();
    }, delay);
  }
}
