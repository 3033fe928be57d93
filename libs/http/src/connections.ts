/**
 * What is answered where HTTP itself is broken, and where the process stops: Node and Fastify would answer with a body of their own, or none.
 *
 * X1 Every answer is the JSON error body with a request id, and ends the connection: where the next request begins is not
 *    known any more.
 * X2 One request, one answer. What arrives broken behind a request that is being served is not taken for that request's failure: its own
 *    answer goes out, then the connection ends. Once an answer has begun, nothing is written into it.
 * X3 What reaches a process that closes, on a connection it still has, is told to come again; nothing of it is carried out.
 */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ERRORS } from '@countersign/contracts';
import type { FastifyHttpOptions, FastifyInstance } from 'fastify';
import { Problem, retryAfter } from './problem.js';

const CODES: Record<string, keyof typeof ERRORS> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'payload_too_large',
};

/** The last exchange of each connection. */
const exchanges = new WeakMap<Socket, { request: IncomingMessage; response: ServerResponse }>();

/** Server options under which Node and Fastify leave these answers to us. */
export const CONNECTION_OPTIONS = {
  http: { requireHostHeader: false },
  clientErrorHandler: (error, socket) => answerBrokenBytes(error, socket as Socket),
  return503OnClosing: false,
} satisfies FastifyHttpOptions<Server>;

export function answerConnections(fastify: FastifyInstance): void {
  fastify.server.on('checkExpectation', (_: IncomingMessage, response: ServerResponse) => {
    const [head, body] = partsOf(new Problem('invalid_request', 'Only `Expect: 100-continue` is supported.'));
    response.writeHead(400, head).end(body);
  });
  let closing = false;
  fastify.addHook('preClose', async () => {
    closing = true;
  });
  fastify.addHook('onRequest', async (request, reply) => {
    exchanges.set(request.raw.socket, { request: request.raw, response: reply.raw });
    if (closing) {
      throw new Problem('service_unavailable', 'This process is stopping. Try again.', {
        headers: { ...retryAfter(1), Connection: 'close' },
      });
    }
    const hosts = hostsOf(request.raw);
    if (hosts > 1 || (hosts === 0 && request.raw.httpVersion === '1.1')) {
      throw new Problem('invalid_request', 'Send exactly one Host header.');
    }
  });
}

/** Node drops what is sent twice, and a proxy may have read the other one (RFC 9112 §3.2). */
function hostsOf({ rawHeaders }: IncomingMessage): number {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) if (rawHeaders[i]?.length === 4 && rawHeaders[i]?.toLowerCase() === 'host') hosts++;
  return hosts;
}

/** Bytes that are not HTTP, headers that do not end, a body that does not come. */
function answerBrokenBytes(error: NodeJS.ErrnoException, socket: Socket): void {
  const { request, response } = exchanges.get(socket) ?? {};
  const served = response?.writableFinished ?? true;
  if (error.code === 'ECONNRESET' || !socket.writable || (response?.headersSent && !(served && request?.complete))) {
    socket.destroy();
  } else if (!served && request?.complete) {
    response?.once('finish', () => socket.end());
  } else {
    const problem = new Problem(CODES[error.code ?? ''] ?? 'invalid_request');
    const [head, body] = partsOf(problem);
    const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}`);
    socket.end([`HTTP/1.1 ${problem.status} ${problem.code}`, ...lines, '', body].join('\r\n'));
  }
}

function partsOf(problem: Problem): [head: Record<string, string | number>, body: string] {
  const body = JSON.stringify(problem.body());
  const head = {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    'X-Request-Id': randomUUID(),
    Connection: 'close',
  };
  return [head, body];
}
