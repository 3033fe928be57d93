import { Retryable } from './port.js';

/** The transaction lost its cursors to another member, a seek or a pause: it must not commit. */
export class Fenced extends Error {
  override readonly name = 'Fenced';
}

/** SQLSTATE classes and codes that speak of the server or of other transactions, not of the event that was handled. */
const PASSING_STATES = /^(08|53|57P|40001|40P01|40003|55P03|55006|57014|25P03|25P04)/;
const PASSING_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);
const PASSING_MESSAGES =
  /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|Client was closed)/;

/**
 * Whether a failure is worth the same batch again: a `Retryable`, or a database or network that is out of reach. A database that goes
 * away in the middle of a batch must not park the keys that were in it.
 */
export function isPassing(error: unknown, depth = 0): boolean {
  if (!(error instanceof Error) || depth > 5) return false;
  if (error instanceof Retryable) return true;
  const code = (error as { code?: unknown }).code;
  if (typeof code === 'string' && (PASSING_STATES.test(code) || PASSING_CODES.has(code))) return true;
  return PASSING_MESSAGES.test(error.message) || isPassing(error.cause, depth + 1);
}

const FIRST_DELAY_MS = 100;
const LONGEST_DELAY_MS = 30_000;

/** Delay before the nth try again: doubling, between half and all of it by chance, and never sooner than the error asked for. */
export function retryDelay(attempt: number, error: unknown, random: () => number = Math.random): number {
  const full = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.min(attempt - 1, 16));
  const asked = error instanceof Retryable ? (error.options.retryAfterMs ?? 0) : 0;
  return Math.max(asked, full / 2 + random() * (full / 2));
}

/** What an operator reads beside a parked key: one line, bounded. */
export function reasonOf(error: unknown): string {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return text.replace(/\s+/g, ' ').slice(0, 500);
}
