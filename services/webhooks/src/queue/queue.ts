/**
 * What waits to be sent: the calls of the queue, whose moves are functions of the database (schema.sql).
 *
 * Q1 The row of an endpoint (one origin of one project) is the lock of everything that waits for it: whoever adds, claims, settles or
 *    replays a delivery holds it. Several are locked in the order of their ids; claiming skips what another holds.
 * Q2 At any time one delivery of a review is its head, the only one with `next_attempt_at`, and only heads are claimed: the order within a
 *    review needs no other guard, and no review waits for another.
 * Q3 A claim is a lease by the database's clock. A result counts while its lease is the delivery's; what comes later is kept in the log of
 *    attempts and changes nothing else.
 * Q4 An endpoint that fails gets less: half as many attempts at a time with each failure in a row, then an open circuit that lets one
 *    through now and then. What waits meanwhile uses up no attempt. So a dead endpoint keeps busy only its own share.
 * Q5 `due_at` of an endpoint is a promise that nothing of it can start sooner; whoever makes something due earlier moves it.
 */
import type { Exchange } from '@countersign/egress';
import type { Pool, PoolClient } from 'pg';
import type { Verdict } from '../worker/verdict.js';

/** Channel on which the workers are told that something is due; polling is the truth. */
export const DUE_CHANNEL = 'webhooks_due';

export interface QueuePolicy {
  /** Delays between the attempts of a delivery, in milliseconds; the circuit stays open as long, up to `circuitMaxOpen`. */
  backoff: readonly number[];
  endpointConcurrency: number;
  /** Failures in a row that open the circuit. */
  circuitFailures: number;
  circuitMaxOpen: number;
  lease: number;
}

/** A delivery as an event demands it. Ids are uuids. */
export interface NewDelivery {
  id: string;
  project: string;
  review: string;
  event_type: string;
  url: string;
  body: string;
  request_id: string | null;
  /** Where in a trace the event behind it was handled. */
  traceparent?: string | null;
  tracestate?: string | null;
}

/**
 * Puts deliveries in line, each behind those of its review that wait already, in the order given. One whose id exists is left as it is.
 * A head that waits for another try is tried at once, since its review has something new to say (decision 11).
 */
export async function enqueue(tx: PoolClient, deliveries: readonly NewDelivery[], policy: QueuePolicy): Promise<void> {
  if (deliveries.length === 0) return;
  const column = (name: keyof NewDelivery) => deliveries.map((delivery) => delivery[name]);
  await tx.query('select webhooks.enqueue($1, $2, $3, $4, $5, $6, $7, $8, $9)', [
    column('id'),
    column('project'),
    deliveries.map((delivery) => new URL(delivery.url).origin),
    column('review'),
    column('event_type'),
    column('url'),
    column('body'),
    column('request_id'),
    policy.endpointConcurrency,
  ]);
  const traced = deliveries.filter((delivery) => delivery.traceparent);
  if (traced.length === 0) return;
  await tx.query(
    `update webhooks.deliveries d set traceparent = t.traceparent, tracestate = t.tracestate
     from unnest($1::uuid[], $2::text[], $3::text[]) as t (id, traceparent, tracestate) where d.id = t.id and d.traceparent is null`,
    [traced.map(({ id }) => id), traced.map(({ traceparent }) => traceparent), traced.map(({ tracestate }) => tracestate ?? null)],
  );
}

/** An attempt this process owns until its lease ends. Ids are uuids. */
export interface Claimed extends NewDelivery {
  endpoint: number;
  lease: string;
  /** Number of the attempt over the delivery's life, from 1. */
  attempts: number;
  /** Attempts before it that do not count in its round. */
  attempts_apart: number;
  /** Age of the delivery, in milliseconds of database time. */
  age_ms: number;
}

/** Most endpoints looked at in one go. */
const ENDPOINTS = 32;

/**
 * Takes due deliveries for this process. No delivery is taken twice while its lease runs; one whose lease has ended is taken again, which
 * counts as an attempt, and its log says that the one before was lost.
 */
export async function claim(pool: Pool, capacity: number, policy: QueuePolicy): Promise<Claimed[]> {
  const { rows } = await pool.query<Claimed>('select * from webhooks.claim($1, $2, $3, $4)', [
    capacity,
    ENDPOINTS,
    policy.endpointConcurrency,
    policy.lease,
  ]);
  return rows;
}

/** What became of an attempt. `postponedMs`: it could not be made for a reason of ours, so it is taken back. */
export type Settlement = { claimed: Claimed } & ({ exchange: Exchange; verdict: Verdict } | { postponedMs: number });

/** Writes down what attempts led to, in one transaction. @returns uuids of the deliveries that have come to an end. */
export async function settle(pool: Pool, settlements: readonly Settlement[], policy: QueuePolicy): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>('select webhooks.settle($1, $2, $3, $4, $5) as id', [
    JSON.stringify(settlements.map(resultOf)),
    policy.backoff,
    policy.circuitFailures,
    policy.circuitMaxOpen,
    policy.endpointConcurrency,
  ]);
  return rows.map((row) => row.id);
}

function resultOf(settlement: Settlement) {
  const { id, endpoint, lease, attempts: number } = settlement.claimed;
  const attempt = { id, endpoint, lease, number };
  if ('postponedMs' in settlement) return { ...attempt, next: 'postponed', delay_ms: settlement.postponedMs, health: 'unknown' };
  const { exchange, verdict } = settlement;
  return {
    ...attempt,
    next: verdict.next,
    ...(verdict.next === 'retry' ? { delay_ms: verdict.delayMs, counts: verdict.counts } : {}),
    ...(verdict.next === 'dead_lettered' ? { reason: verdict.reason } : {}),
    health: verdict.health,
    stage: stageOf(exchange),
    status_code: exchange.status,
    latency_ms: exchange.latencyMs,
    error: verdict.error ?? exchange.failure?.message,
    preview: exchange.status === null ? null : exchange.excerpt,
  };
}

/** How far an attempt came. */
export function stageOf({ status, failure }: Exchange): 'before' | 'attempt' | 'after' {
  return status === null ? (failure?.stage ?? 'attempt') : 'after';
}

export type CircuitState = 'closed' | 'open' | 'half_open';

/** Half open: the next attempt that is due may try. */
export function circuitState(openUntil: Date | null, now: Date): CircuitState {
  if (openUntil === null) return 'closed';
  return openUntil > now ? 'open' : 'half_open';
}
