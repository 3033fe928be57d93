import type { Server } from 'node:http';
import { fileURLToPath } from 'node:url';
import { OPERATIONS, type Operation, type ServiceName } from '@countersign/contracts';
import type { EventBus } from '@countersign/event-bus';
import type { EventStore } from '@countersign/event-store';
import { createHttpApp, methodsOf, Problem, type ReadyCheck, type RequestSubject, type ServiceClient } from '@countersign/http';
import type { Logger } from '@countersign/telemetry';
import cookies from '@fastify/cookie';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyHttpOptions, FastifyInstance, FastifyRequest } from 'fastify';
import type { Pool } from 'pg';
import { Admission, type Admitted } from './admission/admission.js';
import { credentialOf } from './admission/credential.js';
import { DirectoryClient } from './admission/directory-client.js';
import { KeyLimits } from './admission/limits.js';
import { refuseUnknownQuery } from './admission/query-names.js';
import { serveInbox } from './browser/inbox-pages.js';
import { addSecurityHeaders, allowOrigin } from './browser/security-headers.js';
import type { GatewayConfig } from './config.js';
import { FORWARDED, type ForwardParts, forwardOperations, routePath } from './forward/forward.js';
import { OwnWrites } from './forward/own-writes.js';
import { GatewayModule } from './gateway.module.js';
import { CredentialWatch } from './stream/credential-watch.js';
import { StreamHub } from './stream/hub.js';
import { Tickets } from './stream/tickets.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set on every route of the table once the caller has been let in. */
    admitted: Admitted | null;
  }
}

export interface GatewayParts {
  config: GatewayConfig;
  /** Reaches the services; signs with the key they verify with. */
  client: ServiceClient;
  bus: Pick<EventBus, 'tail'>;
  /** Reads only. */
  store: Pick<EventStore, 'readAll' | 'readStream' | 'head'>;
  /** Connections under the application's role. */
  pool: Pool;
  logger: Logger;
  /** What `/health/ready` tells of this process beside the services; nothing when omitted. */
  ready?: () => Promise<Record<string, ReadyCheck>>;
  /** What GET /api/v1 names as `mode`; `all-in-one` when omitted. */
  mode?: string;
  /** Where the inbox's build lies; services/inbox/dist when omitted. */
  inboxDirectory?: string;
  /** How far back a stream resumes, in events read; the hub's default when omitted. */
  replayEvents?: number;
}

const INBOX = fileURLToPath(new URL('../../inbox/dist', import.meta.url));

/** Who is asked for readiness: every service but this one, also the one that only watches the clock. */
export const SERVICES: readonly ServiceName[] = [
  ...new Set<ServiceName>([...FORWARDED.map((operation) => operation.service), 'monitoring']),
];

/** The public edge, ready to be listened with (or injected into). Ends its streams when it is closed. */
export async function createGatewayApp(parts: GatewayParts): Promise<NestFastifyApplication> {
  const { config, client, bus, store, pool, logger } = parts;
  const directory = new DirectoryClient(client);
  const tickets = new Tickets(pool, directory);
  const hub = new StreamHub({ bus, store, logger, bufferBytes: config.streamBuffer, replayEvents: parts.replayEvents });
  const watch = new CredentialWatch({ hub, directory, bus, logger, everyMs: config.streamRecheck });
  const admission = new Admission({ directory, limits: new KeyLimits(pool), tickets, allowedOrigin: config.uiOrigin });
  const closing = new AbortController();
  const forwardParts: ForwardParts = {
    client,
    ownWrites: new OwnWrites(config.seenFor),
    deadlineMs: config.serviceTimeout,
    closing: closing.signal,
  };
  const meta = { client, pool, own: parts.ready ?? (async () => ({})), services: SERVICES, config, mode: parts.mode ?? 'all-in-one' };
  return createHttpApp(GatewayModule.of({ meta, hub, tickets, watch, closing }), {
    logger,
    observed: { service: 'gateway', level: 'info', subjectOf },
    bodyLimit: config.bodyLimit,
    server: serverOptions(config),
    prepare: async (fastify) => {
      endConnections(fastify, closing.signal);
      await addSecurityHeaders(fastify);
      allowOrigin(fastify, config.uiOrigin);
      await fastify.register(cookies);
      admitCallers(fastify, admission);
      keepBodies(fastify);
      forwardOperations(fastify, forwardParts);
      await serveInbox(fastify, parts.inboxDirectory ?? INBOX);
    },
  });
}

/** A caller that is slow, silent or gone holds a connection for a bounded time. */
function serverOptions(config: GatewayConfig): FastifyHttpOptions<Server> {
  return {
    trustProxy: config.trustProxy.length > 0 ? [...config.trustProxy] : false,
    requestTimeout: config.requestTimeout,
    keepAliveTimeout: config.keepAliveTimeout,
    http: { headersTimeout: config.headersTimeout, connectionsCheckingInterval: Math.min(5_000, config.headersTimeout) },
  };
}

/** What the admission has found out. */
function subjectOf({ admitted }: FastifyRequest): RequestSubject {
  if (!admitted) return {};
  const { operation, actor, caller } = admitted;
  return {
    operation: operation.id,
    caller: caller ?? undefined,
    actor_kind: actor.kind,
    project_id: actor.kind === 'anonymous' ? undefined : actor.project_id,
  };
}

/** Whoever is answered while the gateway stops is not kept connected: the server would wait for the connection to idle out. */
function endConnections(fastify: FastifyInstance, closing: AbortSignal): void {
  fastify.addHook('onSend', async (_, reply) => {
    if (closing.aborted) reply.header('Connection', 'close');
  });
}

/** Runs the admission on every route of the table, before the body is read (A2). */
function admitCallers(fastify: FastifyInstance, admission: Admission): void {
  const operations = new Map(OPERATIONS.map((operation) => [`${operation.method} ${routePath(operation)}`, operation]));
  fastify.decorateRequest('admitted', null);
  fastify.addHook('onRequest', async (request) => {
    // No text of ours holds NUL (decision 17), and PostgreSQL takes none; in an address it can only be an accident or an attempt.
    if (/%00/.test(request.url)) throw new Problem('invalid_request', 'The URL contains NUL (%00).');
    const operation = operationOf(operations, request);
    // Nothing but the head of an answer that has no end would be sent, and a ticket would be used up.
    if (operation?.ticket && request.method === 'HEAD') throw new Problem('method_not_allowed', undefined, { headers: { Allow: 'GET' } });
    if (operation) {
      request.admitted = await admission.admit(operation, request);
      refuseUnknownQuery(operation, request);
    } else if (request.is404 && isHidden(fastify, request)) throw new Problem('missing_credentials');
  });
}

function operationOf(operations: ReadonlyMap<string, Operation>, request: FastifyRequest): Operation | undefined {
  const method = request.method === 'HEAD' ? 'GET' : request.method;
  return operations.get(`${method} ${request.routeOptions.url ?? ''}`);
}

/** Without credentials, nobody is told that an API route does not exist (HRP §0). */
function isHidden(fastify: FastifyInstance, request: FastifyRequest): boolean {
  return request.url.startsWith('/api/') && credentialOf(request) === null && methodsOf(fastify, request.url).length === 0;
}

/** Bodies are kept as they came: services parse them, and read no coding (RFC 9110 §8.4), so that one that is named is refused, not ignored. */
function keepBodies(fastify: FastifyInstance): void {
  fastify.addContentTypeParser('*', { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) => {
    const coding = request.headers['content-encoding'];
    if (coding !== undefined && coding !== 'identity') {
      throw new Problem('unsupported_media_type', 'The body must be sent without content encoding such as gzip.');
    }
    return body;
  });
}
