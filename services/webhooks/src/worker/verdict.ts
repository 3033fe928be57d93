/** What follows from an attempt: the one function that turns an outcome into settled, try again, or dead letter (HRP §7.3, decision 11). Pure. */
import type { Exchange } from '@countersign/egress';

export interface RetryPolicy {
  /** Delay after the first, second, … failed attempt, in milliseconds. One more attempt than delays, then a dead letter. */
  backoff: readonly number[];
  jitterPercent: number;
  retryAfterMax: number;
}

/** What an attempt says about the endpoint. `alive`: it answered sensibly, if only to refuse this delivery. */
export type Health = 'alive' | 'failing' | 'unknown';

export type Verdict = { health: Health; error: string | null } & (
  | { next: 'delivered' }
  | { next: 'retry'; delayMs: number; counts: boolean }
  | { next: 'dead_lettered'; reason: DeadLetterReason }
);

export type DeadLetterReason = 'attempts_exhausted' | 'gone' | 'endpoint_unavailable';

/**
 * @param place of the attempt in its round, from 1.
 * @param chance from 0 up to 1: which part of the jitter is added.
 */
export function judge(exchange: Exchange, place: number, policy: RetryPolicy, chance: number): Verdict {
  const { status, failure } = exchange;
  if (status !== null && status >= 200 && status < 300) return { next: 'delivered', health: 'alive', error: null };
  if (failure?.code === 'aborted') return { next: 'retry', delayMs: 0, counts: false, health: 'unknown', error: failure.message };
  const observed = { health: healthOf(exchange), error: errorOf(exchange) };
  if (status === 410) return { next: 'dead_lettered', reason: 'gone', ...observed };
  const delay = policy.backoff[place - 1];
  if (delay === undefined) return { next: 'dead_lettered', reason: 'attempts_exhausted', ...observed };
  const jittered = Math.round(delay * (1 + (policy.jitterPercent / 100) * chance));
  return { next: 'retry', delayMs: Math.max(jittered, askedDelay(exchange, policy)), counts: true, ...observed };
}

/** A receiver can ask for more time, up to a bound, and never for less: the delays are ours. */
function askedDelay({ retryAfterSeconds }: Exchange, policy: RetryPolicy): number {
  return retryAfterSeconds === null ? 0 : Math.min(retryAfterSeconds * 1_000, policy.retryAfterMax);
}

function healthOf({ status, failure }: Exchange): Health {
  if (failure?.code === 'invalid_request') return 'unknown';
  return status === null || status === 429 || status >= 500 ? 'failing' : 'alive';
}

function errorOf({ status, excerpt, failure }: Exchange): string {
  if (status === null) return failure?.message ?? 'No response.';
  return excerpt.trim() === '' ? `HTTP ${status}` : `HTTP ${status}: ${excerpt}`;
}
