/**
 * A span, a duration and one wide log line for each request.
 *
 * O1 The span goes on from the place in a trace the caller names (`traceparent`), or begins a trace. It is active in all that is done for the
 *    request; reading a body leaves it, so it is entered again after that.
 * O2 No URL, body or header is written: they hold tokens, tickets and what callers say. What was asked is the route's pattern; ids are written
 *    where they are ids of ours.
 * O3 A request ends with its connection's part in it: an event stream after hours, which is why streams are not in the durations.
 * O4 Probes are not observed, and while nothing is sent nor logged, neither is anything else.
 */
import type { ServiceName } from '@countersign/contracts';
import { type Logger, record, type Span, startSpan, telemetryOn } from '@countersign/telemetry';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** What a request turned out to be about: ids and names of ours. */
export interface RequestSubject {
  operation?: string;
  /** Key or person. */
  caller?: string;
  actor_kind?: string;
  project_id?: string;
  review_id?: string;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Filled by whoever learns more of the request than its route. */
    subject: RequestSubject | null;
  }
}

export interface ObservedOptions {
  service: ServiceName;
  logger: Logger;
  /** Level of the line. */
  level: 'info' | 'debug';
  /** Asked when the request has ended. */
  subjectOf?: (request: FastifyRequest) => RequestSubject;
}

const PROBE = /^\/(?:health|internal\/ready)(?:[/?]|$)/;
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const REVIEW_ID = /^rev_[0-9a-z]{26}$/;

export function observeRequests(fastify: FastifyInstance, options: ObservedOptions): void {
  fastify.decorateRequest('subject', null);
  if (!telemetryOn() && !options.logger.isLevelEnabled(options.level)) return;
  const spans = new WeakMap<FastifyRequest, Span>();
  fastify.addHook('onRequest', (request, reply, done) => {
    if (PROBE.test(request.url)) return done();
    const span = begin(request, options.service);
    const began = performance.now();
    request.subject = {};
    spans.set(request, span);
    reply.raw.once('close', () => span.run(() => end(request, reply, span, (performance.now() - began) / 1_000, options)));
    span.run(done);
  });
  if (!telemetryOn()) return;
  fastify.addHook('preValidation', (request, _reply, done) => {
    const span = spans.get(request);
    if (span) span.run(done);
    else done();
  });
}

const methodOf = (request: FastifyRequest): string => (METHODS.has(request.method) ? request.method : '_OTHER');

function routeOf(request: FastifyRequest): string | undefined {
  return request.is404 ? undefined : request.routeOptions.url;
}

function begin(request: FastifyRequest, service: ServiceName): Span {
  const { traceparent, tracestate } = request.headers;
  const method = methodOf(request);
  const route = routeOf(request);
  return startSpan(route === undefined ? method : `${method} ${route}`, {
    kind: 'server',
    parent: { traceparent: one(traceparent), tracestate: one(tracestate) },
    attributes: {
      'http.request.method': method,
      'http.route': route,
      'url.scheme': request.protocol,
      'network.protocol.version': request.raw.httpVersion,
      'countersign.service': service,
    },
  });
}

const one = (header: string | string[] | undefined): string | undefined => (typeof header === 'string' ? header : undefined);

function end(
  request: FastifyRequest,
  reply: FastifyReply,
  span: Span,
  seconds: number,
  { service, logger, level, subjectOf }: ObservedOptions,
): void {
  const route = routeOf(request);
  const status = reply.raw.headersSent ? reply.raw.statusCode : undefined;
  const errorType = status === undefined ? 'aborted' : status >= 500 ? String(status) : undefined;
  const subject = { ...subjectOf?.(request), ...request.subject };
  const { id } = (request.params ?? {}) as { id?: unknown };
  if (typeof id === 'string' && REVIEW_ID.test(id)) subject.review_id = id;

  span.set({
    'http.response.status_code': status,
    'countersign.operation': subject.operation,
    'countersign.actor.kind': subject.actor_kind,
    'countersign.project.id': subject.project_id,
    'countersign.review.id': subject.review_id,
  });
  if (errorType !== undefined) span.fail(errorType);
  if (!String(reply.raw.getHeader('content-type')).startsWith('text/event-stream')) {
    record('httpRequests', seconds, {
      'countersign.service': service,
      'http.request.method': methodOf(request),
      ...(route === undefined ? {} : { 'http.route': route }),
      ...(status === undefined ? {} : { 'http.response.status_code': status }),
      ...(errorType === undefined ? {} : { 'error.type': errorType }),
      ...(/[?&]wait=0*[1-9]/.test(request.url) ? { 'countersign.waited': true } : {}),
    });
  }
  const { actor_kind: _, ...told } = subject;
  logger[level](
    {
      request_id: request.id,
      method: request.method,
      route,
      ...told,
      status,
      ms: Math.round(seconds * 1_000),
      aborted: status === undefined || undefined,
    },
    'request',
  );
  span.end();
}
