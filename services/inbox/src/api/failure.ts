import type { ErrorBody } from '@countersign/contracts';

type ErrorInfo = ErrorBody['error'];

/** The server said no. */
export class Refused extends Error {
  override readonly name = 'Refused';
  constructor(
    readonly status: number,
    readonly info: Pick<ErrorInfo, 'code' | 'message'> & Partial<ErrorInfo>,
    /** Seconds after which it may be tried again. */
    readonly retryAfter: number | null = null,
  ) {
    super(info.message);
  }

  get code(): ErrorInfo['code'] {
    return this.info.code;
  }
}

/** No answer: whether the server did what was asked is not known. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable';
}

const NO_SESSION: readonly string[] = ['missing_token', 'invalid_token', 'missing_credentials'];

/** Whether the session is gone, as opposed to something being refused to it. */
export function sessionEnded(error: unknown): boolean {
  return error instanceof Refused && error.status === 401 && NO_SESSION.includes(error.code);
}

/** Whether the same call may go through later without anything else being changed. */
export function mayPass(error: unknown): boolean {
  return (
    error instanceof Unreachable || (error instanceof Refused && (error.status >= 500 || error.status === 429 || error.status === 408))
  );
}

/** What happened and what to do, in a sentence or two for a person. */
export function sentenceOf(error: unknown): string {
  if (error instanceof Unreachable) return 'The server cannot be reached. Check your connection and try again.';
  if (error instanceof Refused) {
    if (error.status >= 500) return 'Server error. Try again in a moment.';
    if (error.retryAfter !== null) return `${ended(error.message)} Try again in ${waitOf(error.retryAfter)}.`;
    return ended(error.message);
  }
  return 'Something went wrong. Reload the page; your input is kept.';
}

const ended = (sentence: string): string => (/[.!?]$/.test(sentence) ? sentence : `${sentence}.`);

function waitOf(seconds: number): string {
  if (seconds < 90) return seconds === 1 ? '1 second' : `${seconds} seconds`;
  return `${Math.ceil(seconds / 60)} minutes`;
}
