/**
 * A TCP proxy that does to connections what networks do: delays, resets, swallows, closes one half, cuts in the middle of a message.
 *
 * W1 A fault takes the connections it is told to, by what they have said first: PostgreSQL's first message holds `application_name`.
 * W2 A connection that is swallowed stays open on both sides and never ends by itself, as behind a firewall that forgot it: neither side's
 *    end is told to the other.
 * W3 Bytes are never changed or reordered; what is cut off is always the rest of a direction.
 */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

type Direction = 'out' | 'back';

/** What a fault takes. */
export type Which = (link: Link) => boolean;

/** A connection through the proxy. */
export class Link {
  /** The first bytes the client has sent, as text. */
  opening = '';
  /** Milliseconds each piece is on its way longer. */
  delayMs = 0;
  swallowed = false;
  /** Sees what comes before it goes on; gives back how many of its bytes still do. */
  watch: ((direction: Direction, bytes: Buffer) => number) | null = null;
  #behind: Record<Direction, Promise<void>> = { out: Promise.resolve(), back: Promise.resolve() };

  constructor(
    readonly client: Socket,
    readonly server: Socket,
  ) {
    this.#carry('out', client, server);
    this.#carry('back', server, client);
  }

  /** Ends both sides at once, without an end of the stream (RST). */
  reset(): void {
    for (const side of [this.client, this.server]) side.resetAndDestroy();
  }

  #carry(direction: Direction, from: Socket, to: Socket): void {
    const then = (act: () => void) => {
      const after = this.#behind[direction];
      const waits = this.delayMs > 0 ? new Promise((done) => setTimeout(done, this.delayMs)) : null;
      this.#behind[direction] = after.then(async () => {
        await waits;
        if (!this.swallowed && !to.destroyed) act();
      });
    };
    from.on('data', (bytes: Buffer) => {
      if (this.swallowed) return;
      if (direction === 'out' && this.opening === '') this.opening = bytes.toString('latin1');
      const passing = this.watch?.(direction, bytes) ?? bytes.length;
      then(() => {
        if (passing > 0 && !to.write(bytes.subarray(0, passing))) {
          from.pause();
          to.once('drain', () => from.resume());
        }
      });
    });
    from.on('end', () => then(() => to.end()));
    from.on('error', () => {});
    from.on('close', () => then(() => to.destroy()));
  }
}

const ALL: Which = () => true;

export class FaultProxy {
  readonly links = new Set<Link>();
  #server: Server;
  #port = 0;
  #refusing = false;
  #now: ((link: Link) => void)[] = [];

  private constructor(private readonly target: { host: string; port: number }) {
    this.#server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => this.#accept(client));
  }

  /** @returns a proxy on a free port of the loopback interface. */
  static async to(target: { host?: string; port: number }): Promise<FaultProxy> {
    const proxy = new FaultProxy({ host: '127.0.0.1', ...target });
    await once(proxy.#server.listen(0, '127.0.0.1'), 'listening');
    proxy.#port = (proxy.#server.address() as AddressInfo).port;
    return proxy;
  }

  get port(): number {
    return this.#port;
  }

  /** What comes from now on goes there. */
  leadTo(port: number): void {
    this.target.port = port;
  }

  /** An address of the target, through the proxy. */
  through(address: string): string {
    const url = new URL(address);
    url.host = `127.0.0.1:${this.#port}`;
    return url.href;
  }

  /** Those that are open and carry what is said. */
  open(which: Which = ALL): Link[] {
    return [...this.links].filter((link) => !link.swallowed && which(link));
  }

  /** From now on, those that are open and those that come, until `heal`. */
  latency(ms: number): void {
    this.#everywhere((link) => {
      link.delayMs = ms;
    });
  }

  /** Those that are open end with a reset. */
  reset(which?: Which): void {
    for (const link of this.open(which)) link.reset();
  }

  /** Those that are open hear nothing any more, for good (W2); with `also: 'new'`, those that come do not either, until `heal`. */
  blackhole(which?: Which, also?: 'new'): number {
    const swallow = (link: Link) => {
      link.swallowed = true;
    };
    const taken = this.open(which);
    taken.forEach(swallow);
    if (also === 'new') this.#now.push(swallow);
    return taken.length;
  }

  /** The client of those that are open is told the end of the stream; what it says still arrives. */
  halfClose(which?: Which): void {
    for (const { client } of this.open(which)) client.end();
  }

  /** Those that are open end, and those that come are refused, until `heal`. */
  down(): void {
    this.#refusing = true;
    for (const link of this.links) link.reset();
  }

  /**
   * Once, the next message to the server with these words in it is cut: `at` of its bytes go on and then the connection is reset; or all of them
   * do and the answer does not ('answer').
   * @returns when it has happened.
   */
  cut(words: string, at: number | 'answer'): Promise<void> {
    return new Promise((happened) => {
      let done = false;
      const end = (link: Link) => {
        done = true;
        // After what still goes on has gone.
        setImmediate(() => {
          link.reset();
          happened();
        });
      };
      const watching = new Set<Link>();
      this.#everywhere((link) => {
        link.watch = (direction, bytes) => {
          if (direction === 'back') {
            if (!watching.has(link)) return bytes.length;
            if (!done) end(link);
            return 0;
          }
          if (done || watching.size > 0 || !bytes.includes(words)) return bytes.length;
          watching.add(link);
          if (at === 'answer') return bytes.length;
          end(link);
          return Math.min(at, bytes.length - 1);
        };
      });
    });
  }

  /** No fault takes what comes from now on; those that are open are as they are. */
  heal(): void {
    this.#refusing = false;
    this.#now = [];
    for (const link of this.links) link.delayMs = 0;
  }

  async close(): Promise<void> {
    this.#server.close();
    for (const link of this.links) link.reset();
    await once(this.#server, 'close');
  }

  #everywhere(act: (link: Link) => void): void {
    this.#now.push(act);
    for (const link of this.links) act(link);
  }

  #accept(client: Socket): void {
    if (this.#refusing) return void client.resetAndDestroy();
    const server = connect({ ...this.target, allowHalfOpen: true, noDelay: true });
    const link = new Link(client, server);
    this.links.add(link);
    for (const act of this.#now) act(link);
    server.on('error', () => client.resetAndDestroy());
    for (const side of [client, server])
      side.on('close', () => {
        if (client.destroyed && server.destroyed) this.links.delete(link);
      });
  }
}
