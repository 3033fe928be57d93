import type { Actor, InternalIdentity } from '@countersign/contracts';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { bodyHash, IDENTITY_HEADER, NO_BODY_HASH, verifyIdentity } from '../identity.js';
import { Problem } from '../problem.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set once the gateway's signature, and later the body's hash, have been checked. */
    identity: InternalIdentity | null;
    /** SHA-256 of the body bytes that arrived; null when none did. */
    bodySha256: string | null;
  }
}

/** Routes a probe may ask without an identity. They tell nothing but whether the process works. */
const PROBES = new Set(['/health', '/health/ready']);

/** The one guard of a service (docs/architecture.md): refuses whatever the gateway has not signed, for unknown routes too. */
export function requireIdentity(fastify: FastifyInstance, options: { service: string; identityKey: string; now: () => number }): void {
  fastify.decorateRequest('identity', null);
  fastify.decorateRequest('bodySha256', null);
  fastify.addHook('onRequest', async (request) => {
    if (request.method === 'GET' && PROBES.has(request.url)) return;
    const header = request.headers[IDENTITY_HEADER];
    request.identity = verifyIdentity(typeof header === 'string' ? header : undefined, options.identityKey, {
      aud: options.service,
      method: request.method,
      path: request.raw.url ?? '',
      nowMs: options.now(),
    });
    if (request.identity === null) throw refused();
  });
  fastify.addHook('preValidation', async (request) => {
    if (request.identity !== null && (request.bodySha256 ?? NO_BODY_HASH) !== request.identity.body_sha256) throw refused();
  });
}

/** Notes the hash of the body for the guard, and refuses it before anything is parsed when it is not the one that was signed. */
export function acceptBody(request: FastifyRequest, body: Buffer): void {
  request.bodySha256 = bodyHash(body);
  if (request.identity !== null && request.bodySha256 !== request.identity.body_sha256) throw refused();
}

function refused(): Problem {
  return new Problem('missing_credentials', 'Only the gateway may call this service.');
}

/** Who calls, as the gateway vouches, and the id of the request. */
export interface CallerIdentity {
  actor: Actor;
  request_id: string;
}

/** Parameter decorator: the {@link CallerIdentity} of the request. */
export const Identity = createParamDecorator((_: unknown, context: ExecutionContext): CallerIdentity => {
  const { identity } = context.switchToHttp().getRequest<FastifyRequest>();
  if (identity === null) throw new Error('No identity on this route: it is not behind requireIdentity.');
  return { actor: identity.actor, request_id: identity.request_id };
});
