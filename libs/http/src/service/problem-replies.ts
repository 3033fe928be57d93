import type { Logger } from '@countersign/telemetry';
import { type ArgumentsHost, Catch, type ExceptionFilter } from '@nestjs/common';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Problem } from '../problem.js';
import { problemOfError } from './problem-of-error.js';

/**
 * Answers an error with its JSON body. The one place that logs: a fault of ours once, with its cause and the request's id; a refusal never.
 * The route is logged and not the address, which may hold a ticket, a token, or what a caller mistook for an id.
 */
export function sendProblem(error: unknown, request: FastifyRequest, reply: FastifyReply, logger: Logger): FastifyReply {
  const { problem, unexpected } = problemOfError(error);
  if (unexpected) {
    const about = {
      err: problem.cause ?? error,
      request_id: request.id,
      method: request.method,
      route: request.routeOptions?.url,
      code: problem.code,
    };
    if (problem.status === 500) logger.error(about, 'request failed');
    else logger.warn(about, 'request could not be served, retryable');
  }
  return reply
    .code(problem.status)
    .headers({
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      // Said here too: what is refused before routing has met no hook.
      'x-request-id': request.id,
      ...(problem.status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
      ...problem.options.headers,
    })
    .send(JSON.stringify(problem.body()));
}

/** What a controller throws. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  constructor(private readonly logger: Logger) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const reply = http.getResponse<FastifyReply>();
    if (reply.sent) return;
    sendProblem(error, http.getRequest<FastifyRequest>(), reply, this.logger);
  }
}

/** Errors before any controller: unknown routes, wrong methods, bodies that are refused. */
export function answerProblems(fastify: FastifyInstance, logger: Logger): void {
  fastify.setErrorHandler((error, request, reply) => sendProblem(error, request, reply, logger));
  fastify.setNotFoundHandler((request, reply) => {
    const allowed = methodsOf(fastify, request.url);
    const problem =
      allowed.length > 0
        ? new Problem('method_not_allowed', `${request.method} is not allowed here. Allowed: ${allowed.join(', ')}.`, {
            headers: { Allow: allowed.join(', ') },
          })
        : new Problem('route_not_found');
    return sendProblem(problem, request, reply, logger);
  });
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** Methods an address is served with, HEAD aside; none for an unknown route. The router finds a parameter in an empty segment, and serves none. */
export function methodsOf(fastify: FastifyInstance, url: string): string[] {
  const path = url.split('?', 1)[0] ?? '/';
  if (/.\/$|\/\//.test(path)) return [];
  return METHODS.filter((method) => fastify.findRoute({ method, url: path }) !== null);
}
