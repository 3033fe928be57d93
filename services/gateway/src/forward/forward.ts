/**
 * The way of a public operation to the service that owns it.
 *
 * P1 The bytes of the body go on as they came; the service parses and checks them. What an operation has no place for goes nowhere.
 * P2 The path is built anew from the operation and its parameters, and refused when a URL parser would read it otherwise: what was admitted
 *    here is what is served there.
 * P3 Only named headers go on, and of the cookies the one that marks a device, to where people sign in. The answer's headers come back,
 *    less those that belong to one connection.
 * P4 A caller that leaves takes its request with it; one that waits when the gateway stops is told to come again.
 */
import { CLIENT_IP_HEADER, DEVICE_COOKIE, OPERATIONS, type Operation } from '@countersign/contracts';
import { fillPath, Problem, retryAfter, SEEN_HEADER, type ServiceAnswer, type ServiceClient } from '@countersign/http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Admitted } from '../admission/admission.js';
import type { OwnWrites } from './own-writes.js';

const PASSED_ON = [
  'content-type',
  'accept',
  'accept-language',
  'idempotency-key',
  'if-none-match',
  'user-agent',
  'traceparent',
  'tracestate',
];
const OF_ONE_CONNECTION = new Set([
  'connection',
  'keep-alive',
  'transfer-encoding',
  'te',
  'trailer',
  'upgrade',
  'proxy-authenticate',
  'content-length',
  'date',
  'x-request-id',
]);

export interface ForwardParts {
  client: ServiceClient;
  ownWrites: OwnWrites;
  /** Milliseconds a service has to begin its answer. */
  deadlineMs: number;
  /** Aborted when the gateway stops: whoever waits for a change is told to come again. */
  closing: AbortSignal;
}

/** Every operation of the table that another service owns. */
export const FORWARDED: readonly Operation[] = OPERATIONS.filter((operation) => operation.service !== 'gateway');

/** The operation's path as Fastify writes it. */
export function routePath(operation: Operation): string {
  return operation.path.replace(/\{(\w+)\}/g, ':$1');
}

export function forwardOperations(fastify: FastifyInstance, parts: ForwardParts): void {
  for (const operation of FORWARDED) {
    fastify.route({ method: operation.method, url: routePath(operation), handler: (request, reply) => forward(parts, request, reply) });
  }
}

async function forward(
  { client, ownWrites, deadlineMs, closing }: ForwardParts,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { operation, actor, caller } = request.admitted as Admitted;
  const leaving = new AbortController();
  const onClose = () => {
    if (!reply.raw.writableFinished) leaving.abort();
  };
  reply.raw.on('close', onClose);
  const waits = waitMs(request);
  let answer: ServiceAnswer;
  try {
    answer = await client.forward(operation.service, {
      method: operation.method,
      path: `${servicePath(operation, request.params as Record<string, string>)}${queryOf(request)}`,
      actor,
      request_id: request.id,
      headers: headersOf(request, operation, caller, ownWrites),
      body: operation.body && Buffer.isBuffer(request.body) ? request.body : undefined,
      signal: waits > 0 ? AbortSignal.any([leaving.signal, closing]) : leaving.signal,
      deadlineMs: deadlineMs + waits,
      stream: operation.mediaType !== undefined,
    });
  } catch (error) {
    if (leaving.signal.aborted) return reply.hijack();
    if (waits > 0 && closing.aborted) throw new Problem('service_unavailable', undefined, { headers: retryAfter(1), cause: error });
    throw error;
  }
  noteReview(request, answer.body);
  if (caller !== null && operation.method !== 'GET') ownWrites.remember(caller, answer.headers[SEEN_HEADER]);
  for (const [name, value] of Object.entries(answer.headers)) if (!OF_ONE_CONNECTION.has(name)) reply.header(name, value);
  return reply.code(answer.status).send(answer.body);
}

/** A review's id is the first member of its body: what was asked for has one only now. */
function noteReview({ subject }: FastifyRequest, body: ServiceAnswer['body']): void {
  if (subject === null || !Buffer.isBuffer(body)) return;
  subject.review_id = /^\{"id":"(rev_[0-9a-z]{26})"/.exec(body.toString('latin1', 0, 48))?.[1];
}

/** @throws {Problem} `route_not_found` for a parameter that is no single segment once a URL parser has read it, such as `..`. */
function servicePath(operation: Operation, params: Record<string, string>): string {
  const path = fillPath(operation.path, params);
  if (new URL(path, 'http://service').pathname !== path) throw new Problem('route_not_found');
  return path;
}

/** The query as a URL parser leaves it: the path is part of what is signed. */
function queryOf(request: FastifyRequest): string {
  const mark = request.url.indexOf('?');
  return mark < 0 ? '' : new URL(request.url.slice(mark), 'http://service/').search;
}

function headersOf(request: FastifyRequest, operation: Operation, caller: string | null, ownWrites: OwnWrites): Record<string, string> {
  const headers: Record<string, string> = { [CLIENT_IP_HEADER]: request.ip };
  for (const name of PASSED_ON) {
    const value = request.headers[name];
    if (typeof value === 'string' && (name !== 'content-type' || operation.body)) headers[name] = value;
  }
  const device = operation.tag === 'auth' ? request.cookies[DEVICE_COOKIE] : undefined;
  if (device !== undefined && /^[\w-]{1,128}$/.test(device)) headers.cookie = `${DEVICE_COOKIE}=${device}`;
  const own = request.headers[SEEN_HEADER];
  const seen = typeof own === 'string' ? own : operation.method === 'GET' && caller !== null ? ownWrites.of(caller) : undefined;
  return seen === undefined ? headers : { ...headers, [SEEN_HEADER]: seen };
}

/** What the caller itself chose to wait (`?wait=`), which comes on top of the deadline. */
function waitMs(request: FastifyRequest): number {
  const seconds = Number((request.query as { wait?: unknown } | undefined)?.wait);
  return Number.isFinite(seconds) ? Math.min(60, Math.max(0, seconds)) * 1_000 : 0;
}
