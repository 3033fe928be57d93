import { createHmac, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Receivers accept a signature for this long, so that a recorded delivery cannot be sent again later. */
const TOLERANCE_S = 300;
const MAX_BODY = 1_048_576;

export interface Delivery {
  event: string;
  /** Parsed from the exact bytes that were signed. */
  body: Record<string, unknown>;
}

export interface WebhookReceiver {
  /** Give it to the server as `callback_url`. */
  url: string;
  /** The first delivery that matches, also one that arrived before the call; null after the time. */
  next(matches: (delivery: Delivery) => boolean, timeoutMs: number): Promise<Delivery | null>;
  close(): Promise<void>;
}

/** Whether `X-Webhook-Signature-V2` (`t=<unix seconds>,v1=<hex>`) signs `<t>.<body>` with the project's secret, lately. */
function isSigned(header: string | undefined, body: Buffer, secret: string, nowSeconds: number): boolean {
  const match = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/.exec(header ?? '');
  if (!match?.[1] || !match[2] || Math.abs(nowSeconds - Number(match[1])) > TOLERANCE_S) return false;
  const expected = createHmac('sha256', secret).update(`${match[1]}.`).update(body).digest();
  return timingSafeEqual(expected, Buffer.from(match[2], 'hex'));
}

/** Listens on a free loopback port. A delivery that is not signed is answered 401 and not kept. */
export async function receiveWebhooks(secret: string, say: (line: string) => void): Promise<WebhookReceiver> {
  const kept = new Map<string, Delivery>();
  let arrived = Promise.withResolvers<void>();
  const server = createServer((request, response) => {
    void accept(request).then((status) => {
      response.writeHead(status).end();
    });
  });
  const accept = async (request: IncomingMessage): Promise<number> => {
    const body = await bodyOf(request).catch(() => null);
    if (!body) return 400;
    const event = String(request.headers['x-webhook-event'] ?? '');
    if (!isSigned(String(request.headers['x-webhook-signature-v2'] ?? ''), body, secret, Date.now() / 1000)) {
      say(`✗ Webhook ${event} rejected: the signature does not match.`);
      return 401;
    }
    const id = String(request.headers['x-webhook-id'] ?? '');
    // Delivery is at least once; the id is the same on every attempt.
    if (!kept.has(id)) {
      kept.set(id, { event, body: JSON.parse(body.toString('utf8')) as Record<string, unknown> });
      say(`✓ Webhook ${event} received, signature verified.`);
      arrived.resolve();
      arrived = Promise.withResolvers();
    }
    return 204;
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhook`,
    async next(matches, timeoutMs) {
      const timeout = AbortSignal.timeout(timeoutMs);
      const late = new Promise<void>((resume) => timeout.addEventListener('abort', () => resume(), { once: true }));
      for (;;) {
        const found = [...kept.values()].find(matches);
        if (found || timeout.aborted) return found ?? null;
        await Promise.race([arrived.promise, late]);
      }
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY) throw new Error('The webhook body is too large.');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
