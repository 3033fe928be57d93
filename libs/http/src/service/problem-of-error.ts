import type { ErrorCode } from '@countersign/contracts';
import { isPassing, retryAfterOf, UnknownEventError } from '@countersign/event-store';
import { HttpException } from '@nestjs/common';
import { JsonRefused } from '../json.js';
import { Problem, retryAfter } from '../problem.js';

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

/** What a failure that does not say how long it takes asks of its caller. */
const RETRY_AFTER_MS = 1_000;

/** Whatever was thrown, as the problem the caller is told. `unexpected` says it is a fault of ours that belongs in the log. */
export function problemOfError(error: unknown): { problem: Problem; unexpected: boolean } {
  if (error instanceof Problem) return { problem: error, unexpected: error.status === 500 };
  if (error instanceof JsonRefused) return { problem: new Problem(error.code, error.message), unexpected: false };
  const { code, statusCode } = (error ?? {}) as { code?: unknown; statusCode?: unknown };

  const fastifyCode = typeof code === 'string' ? FASTIFY_CODES[code] : undefined;
  if (fastifyCode) return { problem: new Problem(fastifyCode), unexpected: false };

  const status = error instanceof HttpException ? error.getStatus() : typeof statusCode === 'number' ? statusCode : undefined;
  if (status !== undefined && status >= 400 && status !== 500) {
    return {
      problem: new Problem(STATUS_CODES[status] ?? (status < 500 ? 'invalid_request' : 'internal_error')),
      unexpected: status > 503,
    };
  }
  if (error instanceof UnknownEventError) return { problem: unavailable(error.retryAfterMs, error), unexpected: true };
  if (isPassing(error)) return { problem: unavailable(retryAfterOf(error) ?? RETRY_AFTER_MS, error), unexpected: true };
  return { problem: new Problem('internal_error', undefined, { cause: error }), unexpected: true };
}

function unavailable(ms: number, cause: unknown): Problem {
  return new Problem('service_unavailable', undefined, { headers: retryAfter(ms / 1_000), cause });
}
