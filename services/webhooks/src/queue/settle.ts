import { inTransaction } from '@countersign/database';
import type { Exchange } from '@countersign/egress';
import type { Pool, PoolClient } from 'pg';
import type { DeadReason, Verdict } from '../worker/verdict.js';
import { type CircuitPolicy, observed, stateOf } from './circuit.js';
import type { Claimed } from './claim.js';
import { advanceHeads, lockEndpoints, setDueTimes } from './endpoints.js';

/** What became of an attempt. `postponed`: it could not be made for a reason of ours, so it is taken back. */
export type Settlement = { claimed: Claimed } & ({ exchange: Exchange; verdict: Verdict } | { postponedMs: number });

const HELD: DeadReason = 'endpoint_unavailable';
const HELD_ERROR = 'The endpoint stayed unavailable for as long as all attempts would have taken; this delivery was not tried any more.';

/**
 * Writes down what attempts led to, moves their reviews on and what is known of their endpoints, in one transaction.
 *
 * A result that comes after its lease was given away is kept in the log of attempts and changes nothing else: the delivery belongs to
 * whoever holds the new lease.
 * @returns uuids of the deliveries that have come to an end.
 */
export function settle(pool: Pool, settlements: readonly Settlement[], policy: CircuitPolicy): Promise<string[]> {
  return inTransaction(pool, async (tx) => {
    const ids = [...new Set(settlements.map((one) => one.claimed.endpoint))];
    const { endpoints, now } = await lockEndpoints(tx, ids);
    await takeBack(tx, settlements, now);
    const answered = settlements.filter((one) => 'verdict' in one);
    await finishAttempts(tx, answered, now);
    const settled = await finishDeliveries(tx, answered, now);
    const circuits = endpoints.map((endpoint) => {
      const seen = answered.filter((one) => one.claimed.endpoint === endpoint.id);
      const circuit = seen.reduce((state, one) => observed(state, one.verdict.health, now, policy), {
        failures: endpoint.failures,
        openUntil: endpoint.openUntil,
      });
      return { id: endpoint.id, circuit, seen };
    });
    await writeCircuits(tx, circuits, now);
    const inTrouble = circuits.filter(({ circuit }) => stateOf(circuit, now) !== 'closed').map(({ id }) => id);
    const givenUp = await giveUpHeld(tx, inTrouble, now, policy);
    const ended = [...settled, ...givenUp];
    await advanceHeads(tx, [...new Set(ended.map((one) => one.review))], { now, hurry: 'no' });
    await setDueTimes(tx, ids, now);
    return ended.map((one) => one.id);
  });
}

type Answered = Extract<Settlement, { verdict: Verdict }>;

async function takeBack(tx: PoolClient, settlements: readonly Settlement[], now: number): Promise<void> {
  for (const one of settlements) {
    if (!('postponedMs' in one)) continue;
    const { id, lease, attempts } = one.claimed;
    await tx.query('delete from webhooks.attempts where delivery = $1 and number = $2 and outcome is null', [id, attempts]);
    await tx.query(
      `update webhooks.deliveries set attempts = attempts - 1, lease = null, next_attempt_at = $3,
         last_attempt_at = (select max(started_at) from webhooks.attempts where delivery = $1)
       where id = $1 and lease = $2`,
      [id, lease, new Date(now + one.postponedMs)],
    );
  }
}

const nextAttemptAt = ({ verdict }: Answered, now: number) => (verdict.next === 'retry' ? new Date(now + verdict.delayMs) : null);

async function finishAttempts(tx: PoolClient, answered: readonly Answered[], now: number): Promise<void> {
  await tx.query(
    `update webhooks.attempts a set stage = r.stage, outcome = r.outcome, status_code = r.status_code, latency_ms = r.latency_ms,
       error = r.error, response_preview = r.response_preview, next_attempt_at = r.next_attempt_at
     from unnest($1::uuid[], $2::int[], $3::text[], $4::text[], $5::int[], $6::int[], $7::text[], $8::text[], $9::timestamptz[])
       as r (delivery, number, stage, outcome, status_code, latency_ms, error, response_preview, next_attempt_at)
     where a.delivery = r.delivery and a.number = r.number`,
    [
      answered.map((one) => one.claimed.id),
      answered.map((one) => one.claimed.attempts),
      answered.map((one) => (one.exchange.status === null ? (one.exchange.failure?.stage ?? 'attempt') : 'after')),
      answered.map((one) => (one.verdict.next === 'delivered' ? 'delivered' : 'failed')),
      answered.map((one) => one.exchange.status),
      answered.map((one) => one.exchange.latencyMs),
      answered.map((one) => one.verdict.error ?? (one.exchange.failure?.message || null)),
      answered.map((one) => (one.exchange.status === null ? null : one.exchange.excerpt)),
      answered.map((one) => nextAttemptAt(one, now)),
    ],
  );
}

interface Ended {
  id: string;
  review: string;
}

/** Moves the deliveries whose lease is still ours on. @returns those that have come to an end. */
async function finishDeliveries(tx: PoolClient, answered: readonly Answered[], now: number): Promise<Ended[]> {
  const { rows } = await tx.query<Ended & { settled: boolean }>(
    `update webhooks.deliveries d
     set status = r.status, next_attempt_at = r.next_attempt_at, lease = null, last_error = r.error, attempts_apart = d.attempts_apart + r.apart,
       delivered_at = case when r.status = 'delivered' then $7::timestamptz end, settled_at = case when r.status <> 'pending' then $7::timestamptz end,
       dead_reason = r.dead_reason, unrecorded = (r.status <> 'pending')
     from unnest($1::uuid[], $2::uuid[], $3::text[], $4::timestamptz[], $5::text[], $6::int[], $8::text[])
       as r (id, lease, status, next_attempt_at, error, apart, dead_reason)
     where d.id = r.id and d.lease = r.lease
     returning d.id, d.review, d.status <> 'pending' as settled`,
    [
      answered.map((one) => one.claimed.id),
      answered.map((one) => one.claimed.lease),
      answered.map(({ verdict }) => ({ delivered: 'delivered', retry: 'pending', dead: 'failed' })[verdict.next]),
      answered.map((one) => nextAttemptAt(one, now)),
      answered.map((one) => one.verdict.error),
      answered.map(({ verdict }) => (verdict.next === 'retry' && !verdict.counts ? 1 : 0)),
      new Date(now),
      answered.map(({ verdict }) => (verdict.next === 'dead' ? verdict.reason : null)),
    ],
  );
  return rows.filter((row) => row.settled);
}

async function writeCircuits(
  tx: PoolClient,
  circuits: readonly { id: number; circuit: { failures: number; openUntil: number | null }; seen: readonly Answered[] }[],
  now: number,
): Promise<void> {
  const last = (seen: readonly Answered[], health: Verdict['health']) => seen.findLast((one) => one.verdict.health === health);
  await tx.query(
    `update webhooks.endpoints e set failures = r.failures, open_until = r.open_until,
       last_success_at = case when r.worked then $2::timestamptz else e.last_success_at end,
       last_failure_at = case when r.error is not null then $2::timestamptz else e.last_failure_at end,
       last_error = coalesce(r.error, e.last_error)
     from unnest($1::bigint[], $3::int[], $4::timestamptz[], $5::boolean[], $6::text[]) as r (id, failures, open_until, worked, error)
     where e.id = r.id`,
    [
      circuits.map((one) => one.id),
      new Date(now),
      circuits.map((one) => one.circuit.failures),
      circuits.map((one) => (one.circuit.openUntil === null ? null : new Date(one.circuit.openUntil))),
      circuits.map((one) => last(one.seen, 'alive') !== undefined),
      circuits.map((one) => last(one.seen, 'failing')?.verdict.error ?? null),
    ],
  );
}

/**
 * Ends what an open circuit has held back for as long as a whole round of attempts takes, so that nothing waits for ever for an endpoint
 * that is gone. Only a failure seen at the end of that time counts: a station that was off does not give up what it never tried.
 */
async function giveUpHeld(tx: PoolClient, endpoints: readonly number[], now: number, policy: CircuitPolicy): Promise<Ended[]> {
  if (endpoints.length === 0) return [];
  const round = policy.backoff.reduce((sum, delay) => sum + delay, 0);
  const { rows } = await tx.query<Ended>(
    `update webhooks.deliveries d set status = 'failed', next_attempt_at = null, expedited = false, last_error = $3, dead_reason = $4,
       settled_at = $5, unrecorded = true
     from (select d.id from webhooks.deliveries d join webhooks.endpoints e on e.id = d.endpoint
           where d.endpoint = any($1) and d.next_attempt_at <= $2 and d.lease is null and e.last_failure_at = $5 limit 500) held
     where d.id = held.id returning d.id, d.review`,
    [endpoints, new Date(now - round), HELD_ERROR, HELD, new Date(now)],
  );
  return rows;
}
