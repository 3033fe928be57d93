import type { ErrorCode } from '@countersign/contracts';
import { HttpException } from '@nestjs/common';
import { JsonRefused } from './json.js';
import { Problem, retryAfter } from './problem.js';

/** What the HTTP layer itself refuses, by the code of its error. */
const FASTIFY_CODES: Record<string, ErrorCode> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'payload_too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'invalid_request',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'invalid_json',
  FST_ERR_BAD_URL: 'invalid_request',
  FST_ERR_ASYNC_CONSTRAINT: 'invalid_request',
  FST_ERR_MAX_PARAM_LENGTH: 'uri_too_long',
};

const STATUS_CODES: Record<number, ErrorCode> = {
  404: 'route_not_found',
  405: 'method_not_allowed',
  408: 'request_timeout',
  413: 'payload_too_large',
  414: 'uri_too_long',
  415: 'unsupported_media_type',
  431: 'headers_too_large',
  503: 'service_unavailable',
};

/** PostgreSQL's and the socket's ways to say that the database is not there (yet), has no room, or is contended for. */
const UNREACHABLE =
  /^(?:08\w{3}|57P0[1-5]|53300|25006|40001|40P01|ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|EHOSTUNREACH|EAI_AGAIN|UND_ERR_\w+)$/;

/** Whatever was thrown, as the problem the caller is told. `unexpected` says it is a fault of ours that belongs in the log. */
export function problemOfError(error: unknown): { problem: Problem; unexpected: boolean } {
  if (error instanceof Problem) return { problem: error, unexpected: error.status === 500 };
  if (error instanceof JsonRefused) return { problem: new Problem(error.code, error.message), unexpected: false };
  const { code, statusCode, name, message } = (error ?? {}) as { code?: unknown; statusCode?: unknown; name?: unknown; message?: unknown };

  const fastifyCode = typeof code === 'string' ? FASTIFY_CODES[code] : undefined;
  if (fastifyCode) return { problem: new Problem(fastifyCode), unexpected: false };

  const status = error instanceof HttpException ? error.getStatus() : typeof statusCode === 'number' ? statusCode : undefined;
  if (status !== undefined && status >= 400 && status !== 500) {
    return {
      problem: new Problem(STATUS_CODES[status] ?? (status < 500 ? 'invalid_request' : 'internal_error')),
      unexpected: status > 503,
    };
  }
  if (name === 'Retryable') {
    const after = (error as { options?: { retryAfterMs?: number } }).options?.retryAfterMs ?? 1_000;
    return { problem: unavailable(after / 1_000, error), unexpected: true };
  }
  if (
    (typeof code === 'string' && UNREACHABLE.test(code)) ||
    (typeof message === 'string' && /timeout exceeded when trying to connect|Connection terminated/.test(message))
  ) {
    return { problem: unavailable(1, error), unexpected: true };
  }
  return { problem: new Problem('internal_error', undefined, { cause: error }), unexpected: true };
}

function unavailable(seconds: number, cause: unknown): Problem {
  return new Problem('service_unavailable', undefined, { headers: retryAfter(seconds), cause });
}
