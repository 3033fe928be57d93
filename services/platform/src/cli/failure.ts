import { ConfigError } from '@countersign/config';
import { CannotStart, systemCode } from '../cannot-start.js';

/**
 * 0 ok · 1 check failed or refused · 2 usage error · 3 data unavailable: no data, in use, damaged or unreachable.
 */
export type ExitCode = 0 | 1 | 2 | 3;

/** A rule said no: a sentence for the operator, exit code 1. */
export class Refused extends Error {
  override readonly name = 'Refused';
}

/** An option is missing that this call needs: exit code 2, as for one that every call needs. */
export class WrongCall extends Error {
  override readonly name = 'WrongCall';
}

/** How a command that did not do what it was called for ends. */
export interface Failure {
  exitCode: ExitCode;
  /** One sentence, or one a line where several settings are wrong. */
  message: string;
  /** A fault of this program: its stack is worth seeing. */
  unexpected: boolean;
}

/** What an error of a command means to its user. */
export function failureOf(error: unknown): Failure {
  const { message } = error as Error;
  if (error instanceof Refused) return { exitCode: 1, message, unexpected: false };
  if (error instanceof WrongCall) return { exitCode: 2, message, unexpected: false };
  if (error instanceof CannotStart || error instanceof ConfigError) return { exitCode: 3, message, unexpected: false };
  const code = systemCode(error);
  if (code === '42501') return { exitCode: 3, message: `The DATABASE_URL login lacks permission: ${message}.`, unexpected: false };
  // SQLSTATE class 08 and 57P, or a socket that is refused or cut.
  if (code !== undefined && /^(08...|57P0.|ECONN\w+|EPIPE|ETIMEDOUT|ENOTFOUND)$/.test(code)) {
    return { exitCode: 3, message: `Lost the database connection (${code}). Check that PostgreSQL is running.`, unexpected: false };
  }
  return { exitCode: 3, message: `Internal error: ${message}. Run with LOG_LEVEL=debug for the stack trace.`, unexpected: true };
}

/** What commander says about a wrong call (`error: unknown option '--x'`, a suggestion on a line of its own) as one sentence. */
export function usageSentence(text: string): string {
  const sentence = text
    .trim()
    .replace(/^error: /, '')
    .replace(/\s*\n\s*/g, ' ');
  return `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}${/[.?)]$/.test(sentence) ? '' : '.'}`;
}

/** Text for a person; with `--json` one JSON document. */
export const failureLine = (message: string, json: boolean): string => `${json ? JSON.stringify({ error: { message } }) : message}\n`;
