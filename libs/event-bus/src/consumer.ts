/**
 * One subscription of this process: reads, delivers, moves cursors, parks and releases, one batch at a time.
 *
 * C1 Everything that touches the group's flow happens in `#run`, one step after another: a batch, the release of a key, the hand-over of
 *    buckets. So a release cannot be overtaken, and a bucket never changes hands under a batch of this process.
 * C2 Cursors in memory may run ahead of the stored ones over events that are of no interest to the group; those are written at leisure.
 *    A cursor passes an event of interest only in the transaction that handled or parked it.
 * C3 After a failure that passes, the same events are delivered again and no newer ones with them.
 * C4 What is held is one batch: at most `batchSize` events and 4 MB (one event may be larger).
 */
import type { EventStore, StoredEvent } from '@countersign/event-store';
import type { Logger } from '@countersign/telemetry';
import type { Pool, PoolClient } from 'pg';
import { type Batch, type Course, Delivery } from './delivery.js';
import { Fenced, isPassing, retryDelay } from './failure.js';
import type { Feed, FeedReader } from './feed.js';
import type { GroupLease, Leases, OwnedBucket } from './leases.js';
import { loadParked, type ParkedMark } from './parking.js';
import type { Subscription } from './port.js';
import { ReleaseCourse } from './release.js';
import { Signal } from './signal.js';

const BATCH_EVENTS = 500;
const BATCH_BYTES = 4_000_000;
/** How long an idle cursor may lag in the database behind what the consumer has passed over. */
const FLUSH_MS = 2_000;
const IDLE_MS = 60_000;

export interface ConsumerOptions {
  subscription: Subscription;
  pool: Pool;
  store: Pick<EventStore, 'readAll' | 'readStream'>;
  feed: Feed;
  leases: Leases;
  logger: Logger;
}

export class Consumer implements FeedReader {
  readonly #options: ConsumerOptions;
  readonly #group: string;
  readonly #categories: ReadonlySet<string>;
  readonly #left: ReadonlySet<string>;
  readonly #known: ReadonlySet<string>;
  readonly #delivery: Delivery;
  readonly #signal = new Signal();
  readonly #progress = new Set<() => void>();
  readonly #owned = new Map<number, OwnedBucket>();
  readonly #parked = new Map<string, ParkedMark>();
  readonly #releases = new Set<string>();
  #lease: GroupLease | null = null;
  #paused = false;
  #share = 0;
  #dirty = new Set<number>();
  #flushAt = 0;
  /** C3: events past it wait until the batch that failed has gone through. */
  #retryUpTo = Number.POSITIVE_INFINITY;
  #failures = 0;
  #closing = false;
  #running: Promise<void> = Promise.resolve();

  constructor(options: ConsumerOptions) {
    const { subscription, pool } = options;
    this.#options = options;
    this.#group = subscription.group;
    this.#categories = new Set(subscription.categories);
    this.#left = new Set(subscription.leaves);
    this.#known = new Set([...subscription.handles, ...subscription.leaves]);
    this.#delivery = new Delivery({
      pool,
      subscription,
      onPark: ({ event, reason }, error) =>
        options.logger.error(
          { group: subscription.group, stream: event.stream, position: event.position, type: event.type, reason, err: error },
          'event parked with its key: it waits for unpark, and what follows in its stream waits behind it',
        ),
    });
  }

  /** The lowest cursor: what the feed may forget. */
  get position(): number {
    return Math.min(Number.POSITIVE_INFINITY, ...[...this.#owned.values()].map((one) => one.position));
  }

  advanced(): void {
    this.#signal.notify();
  }

  async start(): Promise<void> {
    const unfollow = this.#options.feed.follow(this);
    await this.#options.leases.join(this.#group, (lease) => {
      this.#lease = lease;
      this.#signal.notify();
    });
    this.#running = this.#run().finally(unfollow);
  }

  /** Lets the batch in flight finish. A handler that has not ended by then loses the right to commit. */
  async close(drainMs: number): Promise<void> {
    this.#closing = true;
    this.#signal.notify();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<'late'>((resolve) => {
      timer = setTimeout(() => resolve('late'), drainMs);
    });
    if ((await Promise.race([this.#running, late])) === 'late') {
      this.#options.logger.error({ group: this.#group, drainMs }, 'a handler did not end in time: its batch is fenced and will be undone');
    }
    clearTimeout(timer);
    await this.#options.leases.leave(this.#group);
    this.#owned.clear();
    this.#progressed();
  }

  /** Whether this process owns what is asked for, so that `reached` can answer without the database. */
  owns(bucket: number | 'all', buckets: number): boolean {
    return bucket === 'all' ? this.#owned.size === buckets : this.#owned.has(bucket);
  }

  reached(position: number, bucket: number | 'all'): boolean {
    const asked = bucket === 'all' ? [...this.#owned.values()] : [this.#owned.get(bucket)];
    return asked.every((one) => one !== undefined && one.position >= position);
  }

  onProgress(listener: () => void): () => void {
    this.#progress.add(listener);
    return () => this.#progress.delete(listener);
  }

  async #run(): Promise<void> {
    while (!this.#closing) {
      try {
        await this.#adoptLease();
        const worked = !this.#paused && ((await this.#release()) || (await this.#flow()));
        this.#failures = 0;
        if (!worked) await this.#rest();
      } catch (error) {
        await this.#recover(error);
      }
    }
    await this.#flush().catch(() => {});
  }

  async #rest(): Promise<void> {
    if (this.#dirty.size > 0 && performance.now() >= this.#flushAt) await this.#flush();
    else await this.#signal.wait(this.#dirty.size > 0 ? Math.max(1, this.#flushAt - performance.now()) : IDLE_MS);
  }

  async #recover(error: unknown): Promise<void> {
    const { logger, leases } = this.#options;
    if (error instanceof Fenced) {
      logger.info({ group: this.#group }, error.message);
      this.#retryUpTo = Number.POSITIVE_INFINITY;
      await leases.beat();
      return;
    }
    this.#failures++;
    const delay = retryDelay(this.#failures, error);
    const report = { group: this.#group, attempt: this.#failures, delayMs: Math.round(delay), err: error };
    if (isPassing(error)) logger.warn(report, 'batch not handled: trying the same one again');
    else logger.error(report, 'the group cannot go on: trying again');
    const until = performance.now() + delay;
    for (let left = delay; left > 0 && !this.#closing; left = until - performance.now()) await this.#signal.wait(left);
  }

  /** Takes over what the last heartbeat said: buckets gained, lost and moved, and makes room for other members. */
  async #adoptLease(): Promise<void> {
    const lease = this.#lease;
    if (!lease) return;
    const now = new Map(lease.owned.map((one) => [one.bucket, one]));
    const changed = lease.owned.filter((one) => this.#owned.get(one.bucket)?.epoch !== one.epoch);
    const parked =
      changed.length > 0
        ? await loadParked(
            this.#options.pool,
            this.#group,
            changed.map((one) => one.bucket),
          )
        : new Map();
    // From here on nothing waits, so the state changes as one.
    if (this.#lease === lease) this.#lease = null;
    const gone = [...this.#owned.keys()].filter((bucket) => !now.has(bucket));
    const touched = new Set([...gone, ...changed.map((one) => one.bucket)]);
    for (const [stream, mark] of this.#parked) if (touched.has(mark.bucket)) this.#parked.delete(stream);
    for (const bucket of gone) this.#owned.delete(bucket);
    for (const one of changed) this.#owned.set(one.bucket, one);
    for (const bucket of touched) this.#dirty.delete(bucket);
    for (const [stream, mark] of parked) {
      this.#parked.set(stream, mark);
      if (mark.unknownType !== null && this.#known.has(mark.unknownType)) this.#releases.add(stream);
    }
    for (const stream of lease.releases) this.#releases.add(stream);
    if (touched.size > 0) this.#retryUpTo = Number.POSITIVE_INFINITY;
    this.#paused = lease.paused;
    this.#share = lease.share;
    this.#progressed();
    await this.#makeRoom();
  }

  async #makeRoom(): Promise<void> {
    const extra = [...this.#owned.keys()].slice(this.#share);
    if (extra.length === 0) return;
    await this.#flush();
    await this.#options.leases.giveBack(this.#group, extra);
    for (const bucket of extra) this.#owned.delete(bucket);
    for (const [stream, mark] of this.#parked) if (extra.includes(mark.bucket)) this.#parked.delete(stream);
  }

  /** One key whose release was asked for. */
  async #release(): Promise<boolean> {
    const [stream] = this.#releases;
    if (stream === undefined) return false;
    const mark = this.#parked.get(stream);
    const bucket = mark && this.#owned.get(mark.bucket);
    if (mark && bucket) {
      const course = new ReleaseCourse({ group: this.#group, stream, mark, bucket, member: this.#options.leases.member });
      const { events } = await this.#options.store.readStream(stream);
      const waiting = events.filter((event) => event.position >= mark.position && event.position <= bucket.position);
      for (const batch of course.batches(
        waiting.filter((event) => !this.#left.has(event.type)),
        this.#batchSize,
      )) {
        await this.#delivery.deliver(batch, course);
        if (course.parkedAgain) break;
      }
      if (course.parkedAgain) this.#parked.set(stream, course.parkedAgain);
      else this.#parked.delete(stream);
    }
    this.#releases.delete(stream);
    return true;
  }

  /** The next batch of the flow; false when there is nothing to do. */
  async #flow(): Promise<boolean> {
    const { feed } = this.#options;
    const from = this.position;
    const head = feed.position;
    if (this.#owned.size === 0 || from >= head) return false;
    // Buckets that came from elsewhere may be behind the others. They go first, up to where the others are.
    const behind = [...this.#owned.values()].filter((one) => one.position === from);
    const ahead = [...this.#owned.values()].filter((one) => one.position > from).map((one) => one.position);
    const ceiling = Math.min(this.#retryUpTo, ...ahead);
    const page = await this.#page(from, behind, head);
    const upTo = Math.min(ceiling, page.upTo);
    const events = page.events.filter((event) => event.position <= upTo && !this.#left.has(event.type));
    this.#retryUpTo = upTo;
    const course = this.#course(behind);
    for (const batch of byReplay(events, upTo, course)) await this.#delivery.deliver(batch, course);
    this.#retryUpTo = Number.POSITIVE_INFINITY;
    if (events.length === 0) this.#pass(behind, upTo);
    return true;
  }

  async #page(from: number, behind: OwnedBucket[], head: number): Promise<{ events: StoredEvent[]; upTo: number }> {
    const buckets = new Set(behind.map((one) => one.bucket));
    const held = this.#options.feed.after(from, this.#batchSize);
    if (held) {
      const events = held.filter((event) => this.#categories.has(event.category) && buckets.has(event.bucket));
      return { events, upTo: held.at(-1)?.position ?? from };
    }
    const events = await this.#options.store.readAll({
      after: from,
      limit: this.#batchSize,
      maxBytes: BATCH_BYTES,
      categories: [...this.#categories],
      bucket: [...buckets],
    });
    // Nothing more up to a head that was committed before the read (F1).
    return { events, upTo: events.at(-1)?.position ?? head };
  }

  #course(buckets: OwnedBucket[]): Course {
    const { leases } = this.#options;
    return {
      flows: (event) => event.position < (this.#parked.get(event.stream)?.position ?? Number.POSITIVE_INFINITY),
      replayUntil: (event) => this.#owned.get(event.bucket)?.replayUntil ?? 0,
      move: (tx, upTo) => this.#advance(tx, leases.member, buckets, upTo),
      moved: (upTo, _delivered, parks) => {
        for (const { event, unknownType, replayUntil } of parks) {
          const { bucket, position, stream, type } = event;
          this.#parked.set(stream, { bucket, position, replayUntil, unknownType: unknownType ? type : null });
        }
        for (const one of buckets) {
          one.position = upTo;
          this.#dirty.delete(one.bucket);
        }
        this.#progressed();
      },
    };
  }

  async #advance(db: Pool | PoolClient, member: string, buckets: OwnedBucket[], upTo: number): Promise<boolean> {
    const { rows } = await db.query<{ moved: boolean }>({
      name: 'event_bus.advance',
      text: 'select event_bus.advance($1, $2, $3, $4, $5) as moved',
      values: [this.#group, member, buckets.map((one) => one.bucket), buckets.map((one) => one.epoch), upTo],
    });
    return rows[0]?.moved === true;
  }

  /** C2: nothing of interest up to here. */
  #pass(buckets: OwnedBucket[], upTo: number): void {
    if (this.#dirty.size === 0) this.#flushAt = performance.now() + FLUSH_MS;
    for (const one of buckets) {
      one.position = upTo;
      this.#dirty.add(one.bucket);
    }
    this.#progressed();
  }

  async #flush(): Promise<void> {
    const late = [...this.#dirty].flatMap((bucket) => this.#owned.get(bucket) ?? []);
    this.#dirty = new Set();
    for (const [position, buckets] of Map.groupBy(late, (one) => one.position)) {
      if (!(await this.#advance(this.#options.pool, this.#options.leases.member, buckets, position))) {
        throw new Fenced(`${this.#group} lost its cursors while idle`);
      }
    }
  }

  #progressed(): void {
    for (const listener of this.#progress) listener();
  }

  get #batchSize(): number {
    return this.#options.subscription.batchSize ?? BATCH_EVENTS;
  }
}

/** Runs of events that are all replayed, or all new; the mark reaches `upTo` with the last. */
function byReplay(events: StoredEvent[], upTo: number, course: Course): Batch[] {
  const batches: Batch[] = [];
  for (const event of events) {
    const replay = event.position <= course.replayUntil(event);
    const last = batches.at(-1);
    if (last && last.replay === replay) last.events.push(event);
    else batches.push({ events: [event], upTo: event.position, replay });
  }
  for (const batch of batches) batch.upTo = (batch.events.at(-1) as StoredEvent).position;
  const last = batches.at(-1);
  if (last) last.upTo = upTo;
  return batches;
}
