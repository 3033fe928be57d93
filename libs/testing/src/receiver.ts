import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';

/** A webhook as it arrived. */
export interface Received {
  path: string;
  headers: Record<string, string>;
  /** The exact bytes. */
  body: Buffer;
  json: Record<string, unknown>;
}

/** Answers one request; may leave it unanswered, or break the connection. `nth` counts the requests of its path from 1. */
export type Answer = (request: Received, response: ServerResponse, nth: number, raw: IncomingMessage) => void;

export const ok: Answer = (_, response) => void response.writeHead(200).end('ok');
export const status =
  (code: number, headers: Record<string, string> = {}): Answer =>
  (_, response) =>
    void response.writeHead(code, headers).end();
export const failing =
  (times: number, code = 500): Answer =>
  (_, response, nth) =>
    void response.writeHead(nth <= times ? code : 200).end();

/** An agent's side of the wire: a real HTTP server on loopback that keeps what it got. */
export class Receiver {
  readonly received: Received[] = [];
  #answers = new Map<string, Answer>();
  #server = createServer((request, response) => {
    void request.toArray().then((chunks) => this.#receive(request, response, Buffer.concat(chunks)));
  });

  async listen(port = 0): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(port, '127.0.0.1', resolve));
    return this;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Address of a path, answered so. */
  url(path = '/hook', answer: Answer = ok): string {
    this.#answers.set(path, answer);
    return `http://127.0.0.1:${this.port}${path}`;
  }

  /** Event types that arrived at a path, in order. */
  types(path = '/hook'): string[] {
    return this.at(path).map((one) => one.headers['x-webhook-event'] ?? '');
  }

  at(path = '/hook'): Received[] {
    return this.received.filter((one) => one.path === path);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #receive(request: IncomingMessage, response: ServerResponse, body: Buffer): void {
    const path = request.url ?? '';
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    const one = { path, headers, body, json: JSON.parse(body.toString('utf8')) as Record<string, unknown> };
    this.received.push(one);
    (this.#answers.get(path) ?? ok)(one, response, this.at(path).length, request);
  }
}

/** Checks the Standard Webhooks signature as a receiver does. @throws when it is not that of the secret (64 hex characters). */
export function verifyStandard(one: Received, secret: string): void {
  new Webhook(`whsec_${Buffer.from(secret, 'hex').toString('base64')}`).verify(one.body.toString('utf8'), one.headers);
}
