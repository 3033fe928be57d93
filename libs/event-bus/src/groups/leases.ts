/**
 * This process as a member of its groups: a heartbeat that extends the lease, claims a fair share of the buckets, and tells each
 * consumer what it owns.
 *
 * L1 A lease lasts `LEASE_MS` on the database's wall clock and is renewed every `BEAT_MS`: a dead member's buckets are taken over within
 *    their sum. A lease only decides who tries; what may commit is decided by the epoch (`event_bus.advance`).
 * L2 A member whose listening connection is gone is taken for dead at once, so a killed process hands over without waiting for its lease.
 * L3 One heartbeat at a time; one asked for while another runs follows it, so its answer is newer than the question.
 */
import { randomUUID } from 'node:crypto';
import type { Logger } from '@countersign/telemetry';
import type { Pool } from 'pg';

export const LEASE_MS = 5_000;
export const BEAT_MS = 1_500;

export interface OwnedBucket {
  bucket: number;
  epoch: number;
  position: number;
  replayUntil: number;
}

/** What a heartbeat says about one group. `share` is how many buckets this member should hold; `releases` are keys to unpark. */
export interface GroupLease {
  paused: boolean;
  share: number;
  owned: OwnedBucket[];
  releases: string[];
}

export class Leases {
  readonly member = randomUUID();
  readonly #pool: Pool;
  readonly #session: () => number | null;
  readonly #logger: Logger;
  readonly #groups = new Map<string, (lease: GroupLease) => void>();
  #timer: NodeJS.Timeout | undefined;
  #current: Promise<void> | null = null;
  #next: Promise<void> | null = null;
  #failing = false;
  #closed = false;

  /** @param options.session the session of the connection that listens (`Listener.session`). */
  constructor(options: { pool: Pool; session: () => number | null; logger: Logger }) {
    this.#pool = options.pool;
    this.#session = options.session;
    this.#logger = options.logger;
  }

  /** Joins a group; resolves after the first heartbeat that names it. */
  async join(group: string, onLease: (lease: GroupLease) => void): Promise<void> {
    this.#groups.set(group, onLease);
    // The others must see the newcomer to make room for it.
    await this.beat();
    await this.#pool.query(`select pg_notify('event_bus', $1)`, [group]);
  }

  async leave(group: string): Promise<void> {
    this.#groups.delete(group);
    // A heartbeat under way would sign this member on again.
    await this.#current;
    await this.#pool.query('delete from event_bus.subscriptions where group_name = $1 and member = $2', [group, this.member]);
    await this.giveBack(group, null);
  }

  /** `null` gives back whatever this member owns of the group. */
  async giveBack(group: string, buckets: number[] | null): Promise<void> {
    await this.#pool.query('select event_bus.give_back($1, $2, $3)', [group, this.member, buckets]);
  }

  /** A heartbeat that begins after this call. */
  beat(): Promise<void> {
    if (!this.#current) return this.#start();
    this.#next ??= this.#current.then(() => {
      this.#next = null;
      return this.#start();
    });
    return this.#next;
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#next;
    await this.#current;
    await this.#pool.query('delete from event_bus.members where id = $1', [this.member]).catch((error) => {
      this.#logger.warn({ err: error }, 'cannot sign off from the groups: the lease runs out by itself');
    });
  }

  #start(): Promise<void> {
    if (this.#closed || this.#groups.size === 0) return Promise.resolve();
    clearTimeout(this.#timer);
    this.#current = this.#beat().finally(() => {
      this.#current = null;
      if (!this.#closed) this.#timer = setTimeout(() => void this.beat(), BEAT_MS);
    });
    return this.#current;
  }

  async #beat(): Promise<void> {
    const groups = [...this.#groups.keys()];
    try {
      const { rows } = await this.#pool.query<GroupLease & { group_name: string }>({
        name: 'event_bus.beat',
        text: `select * from event_bus.beat($1, $2, $3 * interval '1 millisecond', $4)`,
        values: [this.member, groups, LEASE_MS, this.#session()],
      });
      for (const { group_name, paused, share, owned, releases } of rows) this.#groups.get(group_name)?.({ paused, share, owned, releases });
      this.#failing = false;
    } catch (error) {
      // A heartbeat that fails is tried again at the next; if none gets through, the lease runs out and the epoch fences this member.
      if (!this.#failing) this.#logger.warn({ err: error }, 'heartbeat failed: another member may take over');
      this.#failing = true;
    }
  }
}
