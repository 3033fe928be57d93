/**
 * A load balancer in front of several gateways, as an operator would put there: it follows `/health/ready`, takes turns between those that
 * are ready, and tries another where no connection could be made. It never sends a request twice.
 */
import { once } from 'node:events';
import { type ClientRequest, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const PROBE_MS = 200;
const PROBE_TIMEOUT_MS = 1_500;

export class Balancer {
  readonly #ready = new Map<string, boolean>();
  readonly #server = createServer((incoming, outgoing) => this.#pass(incoming, outgoing, [...this.#ready.keys()]));
  #turn = 0;
  #probes: NodeJS.Timeout | null = null;

  constructor(private readonly gateways: readonly string[]) {}

  /** @returns its own address. */
  async listen(): Promise<string> {
    for (const gateway of this.gateways) this.#ready.set(gateway, true);
    await this.#probe();
    this.#probes = setInterval(() => void this.#probe(), PROBE_MS);
    this.#server.keepAliveTimeout = 60_000;
    await once(this.#server.listen(0, '127.0.0.1'), 'listening');
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    if (this.#probes) clearInterval(this.#probes);
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #probe(): Promise<void> {
    await Promise.all(
      this.gateways.map(async (gateway) => {
        const answer = await fetch(`${gateway}/health/ready`, { signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) }).catch(() => null);
        await answer?.body?.cancel();
        this.#ready.set(gateway, answer?.status === 200);
      }),
    );
  }

  /** @param left gateways not tried yet. */
  #pass(incoming: IncomingMessage, outgoing: ServerResponse, left: readonly string[]): void {
    const ready = left.filter((gateway) => this.#ready.get(gateway));
    const choice = ready.length > 0 ? ready : left;
    const gateway = choice[this.#turn++ % Math.max(1, choice.length)];
    if (gateway === undefined) {
      outgoing.writeHead(502).end();
      return;
    }
    const { method, headers, url = '/' } = incoming;
    const passed = request(gateway + url, { method, headers, agent: false });
    let connected = false;
    passed.once('socket', (socket) =>
      socket.once('connect', () => {
        connected = true;
        incoming.pipe(passed);
      }),
    );
    passed.once('response', (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      outgoing.flushHeaders();
      answer.pipe(outgoing);
      answer.once('aborted', () => outgoing.destroy());
    });
    passed.once('error', () => {
      if (connected) outgoing.destroy();
      else
        this.#pass(
          incoming,
          outgoing,
          left.filter((other) => other !== gateway),
        );
    });
    endWith(outgoing, passed);
  }
}

/** A caller that is gone ends what is asked for it. */
function endWith(outgoing: ServerResponse, passed: ClientRequest): void {
  outgoing.once('close', () => {
    if (!outgoing.writableEnded) passed.destroy();
  });
}
