import { isPassing } from '@countersign/database';
import { EventStoreUnavailableError } from '@countersign/event-store';
import { Retryable } from '../port.js';

/** The transaction lost its cursors to another member, a seek or a pause: it must not commit. */
export class Fenced extends Error {
  override readonly name = 'Fenced';
}

/**
 * The commit itself failed: whether the batch is applied, only the stored cursors can tell. To try it again unread would apply it twice.
 */
export class CommitUnknown extends Retryable {
  override readonly name = 'CommitUnknown';
}

/** Whether a failure is worth the same batch again. A database that goes away in the middle of one must not park the keys that were in it. */
export function isWorthAnotherTry(error: unknown): boolean {
  return isPassing(error, (one) => one instanceof Retryable || one instanceof EventStoreUnavailableError);
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
