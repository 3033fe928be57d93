import type { Delivery, DeliveryAttempt, DeliveryDetail, DeliveryStatus } from '@countersign/contracts';
import { idOf } from '@countersign/event-store';
import { circuitState } from '../queue/queue.js';

/** A delivery's status in the tables. */
export type StoredStatus = 'pending' | 'delivered' | 'dead_lettered';

/** On the wire a dead letter is `failed`; nowhere else is it called that. */
export const wireStatus = (status: StoredStatus): DeliveryStatus => (status === 'dead_lettered' ? 'failed' : status);
export const storedStatus = (status: DeliveryStatus): StoredStatus | Exclude<DeliveryStatus, 'failed'> =>
  status === 'failed' ? 'dead_lettered' : status;

/** A row of the log with its endpoint. */
export interface DeliveryRow {
  id: string;
  review: string | null;
  event_type: string;
  url: string;
  status: StoredStatus;
  attempts: number;
  attempts_apart: number;
  next_attempt_at: Date | null;
  lease: string | null;
  expedited: boolean;
  last_attempt_at: Date | null;
  last_error: string | null;
  delivered_at: Date | null;
  created_at: Date;
  origin: string;
  failures: number;
  open_until: Date | null;
  last_success_at: Date | null;
  last_failure_at: Date | null;
  endpoint_error: string | null;
  /** The database's time of the query. */
  now: Date;
}

export interface AttemptRow {
  number: number;
  started_at: Date;
  stage: DeliveryAttempt['stage'];
  outcome: DeliveryAttempt['outcome'];
  status_code: number | null;
  latency_ms: number | null;
  error: string | null;
  response_preview: string | null;
  next_attempt_at: Date | null;
}

const iso = (time: Date | null): string | null => time?.toISOString() ?? null;

/** @param round attempts a delivery gets before it is a dead letter. */
export function deliveryOf(row: DeliveryRow, round: number): Delivery {
  const circuit = circuitState(row.open_until, row.now);
  const heldUntil = circuit === 'open' && !row.expedited ? row.open_until : null;
  return {
    object: 'webhook_delivery',
    id: idOf('whd', row.id),
    review_id: row.review === null ? null : idOf('rev', row.review),
    event_type: row.event_type,
    url: row.url,
    status: wireStatus(row.status),
    attempts: row.attempts,
    max_attempts: row.review === null ? 1 : row.attempts_apart + round,
    last_attempt_at: iso(row.last_attempt_at),
    next_attempt_at: row.lease === null ? iso(later(row.next_attempt_at, heldUntil)) : null,
    last_error: row.last_error,
    delivered_at: iso(row.delivered_at),
    created_at: row.created_at.toISOString(),
    endpoint: {
      origin: row.origin,
      circuit,
      consecutive_failures: row.failures,
      open_until: iso(row.open_until),
      last_success_at: iso(row.last_success_at),
      last_failure_at: iso(row.last_failure_at),
      last_error: row.endpoint_error,
    },
  };
}

export function detailOf(row: DeliveryRow & { body: string | null }, attempts: readonly AttemptRow[], round: number): DeliveryDetail {
  return {
    ...deliveryOf(row, round),
    body: row.body,
    attempt_log: attempts.map(({ started_at, next_attempt_at, ...attempt }) => ({
      ...attempt,
      at: started_at.toISOString(),
      next_attempt_at: iso(next_attempt_at),
    })),
  };
}

function later(due: Date | null, held: Date | null): Date | null {
  return due !== null && held !== null && held > due ? held : due;
}
