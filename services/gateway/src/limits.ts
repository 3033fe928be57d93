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
import { RateLimiterPostgres, type RateLimiterRes } from 'rate-limiter-flexible';

const HOUR_S = 3_600;
const LARGEST_LEASE = 100;

interface Lease {
  left: number;
  /** Unix milliseconds. */
  until: number;
  /** The hour is used up by everybody. */
  spent: boolean;
  /** The question that is under way, so that a burst asks once. */
  asking: Promise<void> | null;
}

function limiter(pool: Pool, keyPrefix: string, seconds: number): RateLimiterPostgres {
  return new RateLimiterPostgres({
    storeClient: pool,
    storeType: 'pool',
    schemaName: 'gateway',
    tableName: 'rate_limits',
    tableCreated: true,
    keyPrefix,
    points: 1,
    duration: seconds,
  });
}

/** How much of an hour is leased at once: small limits are exact whatever the number of gateways. */
export function leaseSize(limit: number): number {
  return Math.min(LARGEST_LEASE, Math.max(1, Math.floor(limit / 20)));
}

export class KeyLimits {
  readonly #limiter: RateLimiterPostgres;
  readonly #leases = new Map<string, Lease>();

  constructor(
    pool: Pool,
    private readonly now: () => number = Date.now,
  ) {
    this.#limiter = limiter(pool, 'key', HOUR_S);
  }

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
    const counted: RateLimiterRes = await this.#limiter.penalty(keyId, size);
    const granted = Math.max(0, Math.min(size, limit - (counted.consumedPoints - size)));
    lease.left += granted;
    lease.until = this.now() + Math.max(1, counted.msBeforeNext);
    lease.spent = granted === 0;
  }

  #forgetEnded(): void {
    if (this.#leases.size < 10_000) return;
    for (const [key, lease] of this.#leases) if (this.now() >= lease.until && lease.asking === null) this.#leases.delete(key);
  }
}

function exceeded(limit: number, waitMs: number): Problem {
  return new Problem('rate_limit_exceeded', `The key may make ${limit} requests an hour.`, { headers: retryAfter(waitMs / 1_000) });
}

/**
 * Failed sign-ins of one address. Each attempt counts before it is made, so that a hundred at once are not all let through, and is given back
 * when it succeeds: somebody who knows the password is not slowed down.
 */
export class SignInLimit {
  readonly #limiter: RateLimiterPostgres;

  constructor(
    pool: Pool,
    private readonly options: { attempts: number; windowMs: number },
  ) {
    this.#limiter = limiter(pool, 'sign-in', Math.ceil(options.windowMs / 1_000));
  }

  /** @throws {Problem} `too_many_attempts` with Retry-After. */
  async begin(ip: string): Promise<void> {
    const counted = await this.#limiter.penalty(networkOf(ip), 1);
    if (counted.consumedPoints <= this.options.attempts) return;
    throw new Problem('too_many_attempts', undefined, { headers: retryAfter(counted.msBeforeNext / 1_000) });
  }

  async succeeded(ip: string): Promise<void> {
    await this.#limiter.reward(networkOf(ip), 1);
  }
}

/** One subscriber of IPv6 has a /64, so that is what counts as an address. */
export function networkOf(ip: string): string {
  if (!ip.includes(':')) return ip;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(ip)?.[1];
  if (mapped) return mapped;
  const [head = '', tail] = (ip.split('%')[0] ?? '').toLowerCase().split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail ? tail.split(':') : [];
  const groups = tail === undefined ? left : [...left, ...Array<string>(8 - left.length - right.length).fill('0'), ...right];
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`;
}
