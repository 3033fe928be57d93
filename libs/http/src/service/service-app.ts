import 'reflect-metadata';
import type { Server } from 'node:http';
import { type ServiceName } from '@countersign/contracts';
import type { Logger } from '@countersign/telemetry';
import type { DynamicModule, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyHttpOptions, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { answerConnections, CONNECTION_OPTIONS } from '../connections.js';
import { conditionalGet } from '../etag.js';
import { parseJson } from '../json.js';
import { findOperation } from '../operation-path.js';
import { Problem } from '../problem.js';
import { requestIdOf } from '../request-id.js';
import { NestLogger } from './nest-logger.js';
import { type ObservedOptions, observeRequests, type RequestSubject } from './observed-requests.js';
import { answerProblems, ProblemFilter, sendProblem } from './problem-replies.js';
import { type ReadyCheck, readyReport } from './readiness.js';
import { ReplyInterceptor } from './reply.js';
import { acceptBody, requireIdentity } from './service-guard.js';

export type AppModule = Type<unknown> | DynamicModule;

/** A body larger than this is refused unless the application says otherwise (decision 17). */
export const BODY_LIMIT = 1_048_576;

export interface AppOptions {
  logger: Logger;
  /** How requests are observed; not at all when omitted. */
  observed?: Omit<ObservedOptions, 'logger'>;
  /** Most bytes of a body; 1 MB when omitted. */
  bodyLimit?: number;
  /** Server options beside ours, such as timeouts. */
  server?: FastifyHttpOptions<Server>;
  /** Called before Nest adds its routes: hooks, parsers, plugins. */
  prepare?: (fastify: FastifyInstance) => void | Promise<void>;
}

export interface ServiceAppOptions {
  service: ServiceName;
  /** Key of the gateway's signature. */
  identityKey: string;
  logger: Logger;
  bodyLimit?: number;
  /** What `/health/ready` and `/internal/ready` ask; a service without checks is ready once it has started. */
  ready?: () => Promise<Record<string, ReadyCheck>>;
  /** Unix milliseconds; the machine's clock when omitted. */
  now?: () => number;
}

/** Nest sets handlers of its own when it starts; ours answer with the JSON error body, so they stay. */
class ProblemAdapter extends FastifyAdapter {
  override setErrorHandler() {
    return this.getInstance();
  }
  override setNotFoundHandler() {
    return this.getInstance();
  }
}

/**
 * A Nest application on Fastify whose every answer follows HRP §0: JSON error bodies, request ids, entity tags.
 * Initialised and ready to be injected into; whoever wants a socket calls `listen`.
 */
export async function createHttpApp(module: AppModule, options: AppOptions): Promise<NestFastifyApplication> {
  const { logger } = options;
  const server: FastifyHttpOptions<Server> = {
    bodyLimit: options.bodyLimit ?? BODY_LIMIT,
    genReqId: (request) => requestIdOf(request.headers),
    requestIdHeader: false,
    frameworkErrors: (error, request, reply) => {
      sendProblem(error, request as FastifyRequest, reply as FastifyReply, logger);
    },
    ...CONNECTION_OPTIONS,
    ...options.server,
    http: { ...CONNECTION_OPTIONS.http, ...options.server?.http },
    routerOptions: { maxParamLength: 512, ...options.server?.routerOptions },
  };
  const adapter = new ProblemAdapter(server as ConstructorParameters<typeof ProblemAdapter>[0]);
  const app = await NestFactory.create<NestFastifyApplication>(module, adapter, {
    bodyParser: false,
    abortOnError: false,
    logger: new NestLogger(logger),
  });
  const fastify = adapter.getInstance() as unknown as FastifyInstance;
  fastify.removeAllContentTypeParsers();
  answerProblems(fastify, logger);
  if (options.observed) observeRequests(fastify, { ...options.observed, logger });
  answerConnections(fastify);
  fastify.addHook('onRequest', async (request, reply) => {
    reply.header('X-Request-Id', request.id);
  });
  fastify.addHook('onSend', async (request, reply, payload) => conditionalGet(request, reply, payload));
  await options.prepare?.(fastify);
  app.useGlobalFilters(new ProblemFilter(logger));
  app.useGlobalInterceptors(new ReplyInterceptor());
  await app.init();
  await fastify.ready();
  return app;
}

/** A service's application: strict JSON bodies, and nobody but the gateway is answered. */
export function createServiceApp(module: AppModule, options: ServiceAppOptions): Promise<NestFastifyApplication> {
  const { service, identityKey, logger, bodyLimit, now = Date.now, ready = async () => ({}) } = options;
  return createHttpApp(module, {
    logger,
    bodyLimit,
    observed: { service, level: 'debug', subjectOf },
    // A signed identity lists a person's role in every project; Node's default of 16 KB is too little for many.
    server: { http: { maxHeaderSize: 131_072 } },
    prepare: (fastify) => {
      requireIdentity(fastify, { service, identityKey, now });
      parseStrictJson(fastify);
      fastify.get('/health', async () => ({ status: 'ok' }));
      for (const path of ['/health/ready', '/internal/ready']) {
        fastify.get(path, async (_, reply) => {
          const report = await readyReport(ready);
          return reply.code(report.status === 'unready' ? 503 : 200).send(report);
        });
      }
    },
  });
}

function subjectOf({ identity }: FastifyRequest): RequestSubject {
  const actor = identity?.actor;
  return actor === undefined || actor.kind === 'anonymous' ? {} : { actor_kind: actor.kind, project_id: actor.project_id };
}

const JSON_MEDIA_TYPE = /^application\/(?:[a-z0-9.+-]+\+)?json\s*(?:;\s*charset\s*=\s*"?utf-?8"?\s*)?$/i;

/**
 * Bodies are JSON in UTF-8. An empty body is none, whatever its type: many clients name one without sending any. None stands for `{}` where
 * the operation says that it may be left out.
 */
function parseStrictJson(fastify: FastifyInstance): void {
  fastify.addHook('preHandler', async (request) => {
    if (request.body === undefined && findOperation(request.method, request.url)?.bodyOptional) request.body = {};
  });
  fastify.addContentTypeParser('*', { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) => {
    acceptBody(request, body);
    if (body.length === 0) return undefined;
    if (!JSON_MEDIA_TYPE.test(request.headers['content-type'] ?? '')) throw new Problem('unsupported_media_type');
    return parseJson(body);
  });
}
