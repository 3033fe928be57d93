/**
 * Counted requests, shared by all gateways through PostgreSQL (K24).
 *
 * Q1 A key without a limit costs no query.
 * Q2 A gateway leases part of a key's hour at once and serves from it. No more than the limit is ever served in a window; what a gateway
 *    leased and did not serve is lost to the others until the window ends: at most a twentieth of the limit for each gateway.
 * Q3 Windows are fixed: an hour from the first request. Once the hour is used up, nothing is asked until it ends.
 */
import { Problem, retryAfter } from '@countersign/http';
import type { Pool } from 'pg';

const HOUR_MS = 3_600_000;
const LARGEST_LEASE = 100;

interface Lease {
  left: number;
  /** Milliseconds, as `now` has them. */
  until: number;
  /** The hour is used up by everybody. */
  spent: boolean;
  /** The question that is under way, so that a burst asks once. */
  asking: Promise<void> | null;
}

/**
 * One statement, by the database's clock: a gateway whose own is wrong would end everybody's hour, or begin it in the future. A window that is over
 * begins anew with what is asked. Windows of others that ended an hour ago go, a few at a time: their keys may be gone.
 */
const COUNT = `
with now as (select (extract(epoch from clock_timestamp()) * 1000)::bigint as ms),
ended as (
  delete from gateway.rate_limits where key in (
    select o.key from gateway.rate_limits o
     where o.expire < (select ms from now) - ${HOUR_MS} and o.key <> $1 order by o.expire limit 10 for update skip locked
  )
)
insert into gateway.rate_limits as r (key, points, expire) select $1::text, $2::integer, ms + ${HOUR_MS} from now
on conflict (key) do update set
  points = case when r.expire <= (select ms from now) then excluded.points else r.points + excluded.points end,
  expire = case when r.expire <= (select ms from now) then excluded.expire else r.expire end
returning points, expire - (select ms from now) as left_ms`;

/** How much of an hour is leased at once: small limits are exact whatever the number of gateways. */
export function leaseSize(limit: number): number {
  return Math.min(LARGEST_LEASE, Math.max(1, Math.floor(limit / 20)));
}

export class KeyLimits {
  readonly #leases = new Map<string, Lease>();

  constructor(
    private readonly pool: Pool,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Counts one request of a key. @throws {Problem} `rate_limit_exceeded` with Retry-After. */
  async count(keyId: string, limit: number | null): Promise<void> {
    if (limit === null) return;
    const lease = this.#leaseOf(keyId);
    for (;;) {
      if (this.now() >= lease.until) Object.assign(lease, { left: 0, spent: false, until: Number.POSITIVE_INFINITY });
      if (lease.left > 0) {
        lease.left--;
        return;
      }
      if (lease.spent) throw exceeded(limit, lease.until - this.now());
      lease.asking ??= this.#extend(keyId, limit, lease).finally(() => {
        lease.asking = null;
      });
      await lease.asking;
    }
  }

  #leaseOf(keyId: string): Lease {
    let lease = this.#leases.get(keyId);
    if (!lease) {
      this.#forgetEnded();
      lease = { left: 0, until: Number.POSITIVE_INFINITY, spent: false, asking: null };
      this.#leases.set(keyId, lease);
    }
    return lease;
  }

  async #extend(keyId: string, limit: number, lease: Lease): Promise<void> {
    const size = leaseSize(limit);
    const { rows } = await this.pool.query<{ points: number; left_ms: number }>(COUNT, [`key:${keyId}`, size]);
    const { points, left_ms } = rows[0] as { points: number; left_ms: number };
    const granted = Math.max(0, Math.min(size, limit - (points - size)));
    lease.left += granted;
    lease.until = this.now() + Math.max(1, left_ms);
    lease.spent = granted === 0;
  }

  #forgetEnded(): void {
    if (this.#leases.size < 10_000) return;
    for (const [key, lease] of this.#leases) if (this.now() >= lease.until && lease.asking === null) this.#leases.delete(key);
  }
}

function exceeded(limit: number, waitMs: number): Problem {
  return new Problem('rate_limit_exceeded', `The API key is limited to ${limit} requests per hour.`, {
    headers: retryAfter(waitMs / 1_000),
  });
}
