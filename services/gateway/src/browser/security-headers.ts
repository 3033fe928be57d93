import helmet from '@fastify/helmet';
import type { FastifyInstance } from 'fastify';

const HEADERS_OF_CALLERS =
  'Authorization, Content-Type, Idempotency-Key, If-None-Match, X-Project-Id, X-Request-Id, Countersign-Seen, Last-Event-ID';
const HEADERS_OF_ANSWERS = 'X-Request-Id, ETag, Retry-After, Countersign-Seen, Idempotent-Replay, Deprecation, Sunset, Link';

/**
 * What browsers are told with every answer. Scripts and styles come from this server alone, none stand in the page; pictures and videos of a
 * review may be anywhere on https.
 */
export async function addSecurityHeaders(fastify: FastifyInstance): Promise<void> {
  await fastify.register(helmet, {
    global: true,
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        scriptSrc: ["'self'"],
        styleSrc: ["'self'"],
        imgSrc: ["'self'", 'data:', 'blob:', 'https:'],
        mediaSrc: ["'self'", 'blob:', 'https:'],
        fontSrc: ["'self'"],
        connectSrc: ["'self'"],
        manifestSrc: ["'self'"],
        baseUri: ["'none'"],
        formAction: ["'self'"],
        frameAncestors: ["'none'"],
        objectSrc: ["'none'"],
      },
    },
    // Pictures from elsewhere carry no resource policy of their own.
    crossOriginEmbedderPolicy: false,
    frameguard: { action: 'deny' },
    referrerPolicy: { policy: 'no-referrer' },
  });
}

/** One other origin may call with credentials (HRP §0). Answers its preflights; everybody else's find no route. */
export function allowOrigin(fastify: FastifyInstance, origin: string | undefined): void {
  if (origin === undefined) return;
  fastify.addHook('onRequest', async (request, reply) => {
    reply.header('Vary', 'Origin');
    if (request.headers.origin !== origin) return;
    reply.headers({
      'Access-Control-Allow-Origin': origin,
      'Access-Control-Allow-Credentials': 'true',
      'Access-Control-Expose-Headers': HEADERS_OF_ANSWERS,
    });
    if (request.method !== 'OPTIONS' || request.headers['access-control-request-method'] === undefined) return;
    await reply
      .code(204)
      .headers({
        'Access-Control-Allow-Methods': 'GET, POST, PUT, PATCH, DELETE',
        'Access-Control-Allow-Headers': HEADERS_OF_CALLERS,
        'Access-Control-Max-Age': '600',
      })
      .send();
  });
}
