import { docUrl, ERRORS, type ErrorCode, isErrorCode } from '@countersign/contracts';
import type { Refusal } from '@countersign/event-store';
import { type ReplyOptions, seenHeader } from './service/reply.js';

export interface ProblemDetail {
  /** Where, such as `body.timeout.seconds`. */
  path: string;
  message: string;
  /** The kind of fault, such as `invalid_type`. */
  code: string;
}

export interface ProblemOptions {
  /** The member at fault: `body.x.y` for a schema, the bare name for a rule. */
  param?: string;
  details?: ProblemDetail[];
  /** Members that go into the error object beside the standard ones, such as `review`. */
  extra?: Record<string, unknown>;
  headers?: Record<string, string>;
  cause?: unknown;
}

/**
 * A "no" on its way to the caller: the error body of HRP §0. Thrown at the edge only; the rules inside return refusals.
 * The status and type come from the catalogue of codes.
 */
export class Problem extends Error {
  override readonly name = 'Problem';
  constructor(
    readonly code: ErrorCode,
    message: string = ERRORS[code].title,
    readonly options: ProblemOptions = {},
  ) {
    super(message, { cause: options.cause });
  }

  get status(): number {
    return ERRORS[this.code].status;
  }

  /** The body as it goes out. */
  body(): { error: Record<string, unknown> } {
    const { param, details, extra } = this.options;
    return {
      error: {
        type: ERRORS[this.code].type,
        code: this.code,
        message: this.message,
        ...(param === undefined ? {} : { param }),
        doc_url: docUrl(this.code),
        ...(details === undefined ? {} : { details }),
        ...extra,
      },
    };
  }
}

/**
 * A decider's refusal as a problem.
 * @param seen where what the refusal recorded was written, so that the caller's next list has it (K14).
 * @throws {Error} for a code the catalogue does not have: a bug of the service, told to its author and not to the caller.
 */
export function problemOf(refusal: Refusal, seen?: ReplyOptions['seen']): Problem {
  if (!isErrorCode(refusal.code))
    throw new Error(`The refusal code ${refusal.code} is not in the error catalogue (contracts/src/errors.ts).`);
  return new Problem(refusal.code, refusal.message, {
    param: refusal.param,
    details: refusal.details as ProblemDetail[] | undefined,
    extra: refusal.extra,
    headers: seenHeader(seen),
  });
}

/** Asks the caller to come back: 429 and 503 carry `Retry-After` in whole seconds. */
export function retryAfter(seconds: number): Record<string, string> {
  return { 'Retry-After': String(Math.max(1, Math.ceil(seconds))) };
}
