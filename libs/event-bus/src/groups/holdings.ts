/**
 * What this process holds of one group: its buckets with their cursors, and the keys that are parked in them.
 *
 * H1 A cursor in memory may run ahead of the stored one over events that are of no interest to the group; those are written at leisure.
 *    A cursor passes an event of interest only in the transaction that handled or parked it.
 * H2 The epoch of a bucket is the right to move its cursor. When it has changed, everything remembered of that bucket is read anew.
 */
import type { StoredEvent } from '@countersign/event-store';
import type { Pool, PoolClient } from 'pg';
import { Fenced } from './failure.js';
import type { OwnedBucket } from './leases.js';
import { loadParked, type Park, type ParkedMark } from './parking.js';

/** How long an idle cursor may lag in the database behind what has been passed over. */
const FLUSH_MS = 2_000;

export class Holdings {
  readonly #pool: Pool;
  readonly #group: string;
  readonly #member: string;
  readonly #owned = new Map<number, OwnedBucket>();
  readonly #parked = new Map<string, ParkedMark>();
  #unwritten = new Set<number>();
  #flushAt = 0;

  constructor(options: { pool: Pool; group: string; member: string }) {
    this.#pool = options.pool;
    this.#group = options.group;
    this.#member = options.member;
  }

  get size(): number {
    return this.#owned.size;
  }

  /** The lowest cursor; infinite when nothing is held. */
  get lowest(): number {
    return Math.min(Number.POSITIVE_INFINITY, ...[...this.#owned.values()].map((one) => one.position));
  }

  all(): OwnedBucket[] {
    return [...this.#owned.values()];
  }

  get(bucket: number): OwnedBucket | undefined {
    return this.#owned.get(bucket);
  }

  parked(stream: string): ParkedMark | undefined {
    return this.#parked.get(stream);
  }

  setParked(stream: string, mark: ParkedMark | null): void {
    if (mark) this.#parked.set(stream, mark);
    else this.#parked.delete(stream);
  }

  /** False when the event's key is parked at or before it. */
  flows(event: StoredEvent): boolean {
    return event.position < (this.#parked.get(event.stream)?.position ?? Number.POSITIVE_INFINITY);
  }

  /** Takes over what a heartbeat said, and answers the parked keys of the buckets that are new or have changed; null when none has. */
  async adopt(owned: OwnedBucket[]): Promise<Map<string, ParkedMark> | null> {
    const now = new Set(owned.map((one) => one.bucket));
    const gone = [...this.#owned.keys()].filter((bucket) => !now.has(bucket));
    const changed = owned.filter((one) => this.#owned.get(one.bucket)?.epoch !== one.epoch);
    if (gone.length === 0 && changed.length === 0) return null;
    const buckets = changed.map((one) => one.bucket);
    const parked = await loadParked(this.#pool, this.#group, buckets);
    this.drop([...gone, ...buckets]);
    for (const one of changed) this.#owned.set(one.bucket, one);
    for (const [stream, mark] of parked) this.#parked.set(stream, mark);
    return parked;
  }

  /**
   * What the database holds of the buckets that are still ours, after a commit whose outcome nobody told: the lock waits for it to end.
   * Those that have changed hands are dropped, for the next heartbeat to tell.
   */
  async reread(): Promise<void> {
    const { rows } = await this.#pool.query<OwnedBucket>(
      `select bucket, epoch, position, replay_until as "replayUntil" from event_bus.cursors
       where group_name = $1 and owner = $2 order by bucket for no key update`,
      [this.#group, this.#member],
    );
    const ours = rows.filter((one) => this.#owned.get(one.bucket)?.epoch === one.epoch);
    const parked = await loadParked(
      this.#pool,
      this.#group,
      ours.map((one) => one.bucket),
    );
    this.drop([...this.#owned.keys()]);
    for (const one of ours) this.#owned.set(one.bucket, one);
    for (const [stream, mark] of parked) this.#parked.set(stream, mark);
  }

  drop(buckets: number[]): void {
    const dropped = new Set(buckets);
    for (const [stream, mark] of this.#parked) if (dropped.has(mark.bucket)) this.#parked.delete(stream);
    for (const bucket of dropped) {
      this.#owned.delete(bucket);
      this.#unwritten.delete(bucket);
    }
  }

  /** Moves stored cursors; false when the right to was lost. */
  async advance(db: Pool | PoolClient, buckets: OwnedBucket[], upTo: number): Promise<boolean> {
    const { rows } = await db.query<{ moved: boolean }>({
      name: 'event_bus.advance',
      text: 'select event_bus.advance($1, $2, $3, $4, $5) as moved',
      values: [this.#group, this.#member, buckets.map((one) => one.bucket), buckets.map((one) => one.epoch), upTo],
    });
    return rows[0]?.moved === true;
  }

  /** The transaction that moved the stored cursors, and parked these keys, has committed. */
  moved(buckets: OwnedBucket[], upTo: number, parks: Park[]): void {
    for (const { event, unknownType, replayUntil } of parks) {
      const { bucket, position, stream, type } = event;
      this.#parked.set(stream, { bucket, position, replayUntil, unknownType: unknownType ? type : null });
    }
    for (const one of buckets) {
      one.position = upTo;
      this.#unwritten.delete(one.bucket);
    }
  }

  /** H1: nothing of interest up to here. */
  pass(buckets: OwnedBucket[], upTo: number): void {
    if (this.#unwritten.size === 0) this.#flushAt = performance.now() + FLUSH_MS;
    for (const one of buckets) {
      one.position = upTo;
      this.#unwritten.add(one.bucket);
    }
  }

  /** Milliseconds until `flush` is worth while; infinite when all is written. */
  get flushIn(): number {
    return this.#unwritten.size === 0 ? Number.POSITIVE_INFINITY : Math.max(0, this.#flushAt - performance.now());
  }

  /** @throws {Fenced} */
  async flush(): Promise<void> {
    const late = this.all().filter((one) => this.#unwritten.has(one.bucket));
    this.#unwritten = new Set();
    for (const [position, buckets] of Map.groupBy(late, (one) => one.position)) {
      if (!(await this.advance(this.#pool, buckets, position))) throw new Fenced(`${this.#group} lost its cursors while idle`);
    }
  }
}
