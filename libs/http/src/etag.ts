import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** Strong entity tag of a JSON body: 27 base64url characters of its SHA-256 (HRP §0). */
export function etagOf(body: string | Uint8Array): string {
  return `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`;
}

/** Paths whose answers nobody may keep: sign-in, sessions, secrets. */
const NO_STORE = /^\/api\/v1\/(?:auth|settings\/hmac-secret)(?:\/|$)/;

/**
 * Last step of a JSON answer to GET: adds `ETag` and `Cache-Control`, and turns an exact `If-None-Match` into 304.
 * A request that waits (`?wait=`) asked to be told the state itself, so it is never answered 304 (decision 13).
 */
export function conditionalGet(request: FastifyRequest, reply: FastifyReply, payload: unknown): unknown {
  const path = request.url.split('?', 1)[0] ?? '';
  if (NO_STORE.test(path)) {
    reply.header('Cache-Control', 'no-store');
    return payload;
  }
  const isJson = String(reply.getHeader('content-type') ?? '').startsWith('application/json');
  if (request.method !== 'GET' || reply.statusCode !== 200 || !isJson || reply.hasHeader('cache-control')) return payload;
  if (typeof payload !== 'string' && !(payload instanceof Uint8Array)) return payload;
  const etag = etagOf(payload);
  reply.header('ETag', etag).header('Cache-Control', 'private, no-cache');
  const waits = Object.hasOwn((request.query ?? {}) as object, 'wait');
  if (request.headers['if-none-match'] !== etag || waits) return payload;
  reply.code(304).removeHeader('content-length').removeHeader('content-type');
  return '';
}
