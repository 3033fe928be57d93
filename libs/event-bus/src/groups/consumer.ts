/**
 * One subscription of this process: reads, delivers, moves cursors, parks and releases, one batch at a time.
 *
 * C1 Everything that touches the group's flow happens in `#run`, one step after another: a batch, the release of a key, the hand-over of
 *    buckets. So a release cannot be overtaken, and a bucket never changes hands under a batch of this process.
 * C2 After a failure that passes, the same events are delivered again and no newer ones with them. Where the commit itself failed, what is
 *    held is read from the database first: the batch may be applied.
 * C3 What is held is one batch: at most `batchSize` events and 4 MB (one event may be larger).
 */
import type { EventStore, StoredEvent } from '@countersign/event-store';
import type { Logger } from '@countersign/telemetry';
import type { Pool } from 'pg';
import type { Feed, FeedReader } from '../feed/feed.js';
import { Signal } from '../feed/signal.js';
import type { Subscription } from '../port.js';
import { type Course, Delivery, replayRuns } from './delivery.js';
import { CommitUnknown, Fenced, isWorthAnotherTry, retryDelay } from './failure.js';
import { Holdings } from './holdings.js';
import type { GroupLease, Leases, OwnedBucket } from './leases.js';
import { type ParkedMark, releaseRequested } from './parking.js';
import { ReleaseCourse } from './release.js';

const BATCH_EVENTS = 500;
const BATCH_BYTES = 4_000_000;
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
  readonly #batchSize: number;
  readonly #delivery: Delivery;
  readonly #holdings: Holdings;
  readonly #signal = new Signal();
  readonly #progress = new Set<() => void>();
  readonly #releases = new Set<string>();
  #lease: GroupLease | null = null;
  #paused = false;
  /** C2: events past it wait until the batch that failed has gone through. */
  #retryUpTo = Number.POSITIVE_INFINITY;
  #failures = 0;
  /** C2: what is held may be behind what is stored. */
  #unsure = false;
  #closing = false;
  #running: Promise<void> = Promise.resolve();

  constructor(options: ConsumerOptions) {
    const { subscription, pool, leases, logger } = options;
    const { group } = subscription;
    this.#options = options;
    this.#group = group;
    this.#categories = new Set(subscription.categories);
    this.#left = new Set(subscription.leaves);
    this.#known = new Set([...subscription.handles, ...subscription.leaves]);
    this.#batchSize = subscription.batchSize ?? BATCH_EVENTS;
    this.#holdings = new Holdings({ pool, group, member: leases.member });
    this.#delivery = new Delivery({
      pool,
      subscription,
      onPark: ({ event, reason }, error) =>
        logger.error(
          { group, stream: event.stream, position: event.position, type: event.type, reason, err: error },
          'event parked with its key: it waits for unpark, and what follows in its stream waits behind it',
        ),
    });
  }

  /** The lowest cursor: what lies before it, the feed may forget. */
  get position(): number {
    return this.#holdings.lowest;
  }

  advanced(): void {
    this.#signal.notify();
  }

  async start(): Promise<void> {
    const unfollow = this.#options.feed.follow(this, this.#options.subscription.categories);
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
    this.#holdings.drop(this.#holdings.all().map((one) => one.bucket));
    this.#progressed();
  }

  /**
   * Whether the group has got to a position, as far as this process can tell: null when another one holds what is asked for, or when what
   * is remembered here may be out of date.
   */
  reached(position: number, bucket: number | 'all', buckets: number): boolean | null {
    if (this.#lease) return null;
    const asked = bucket === 'all' ? this.#holdings.all() : [this.#holdings.get(bucket)].filter((one) => one !== undefined);
    if (asked.length < (bucket === 'all' ? buckets : 1)) return null;
    return asked.every((one) => one.position >= position);
  }

  onProgress(listener: () => void): () => void {
    this.#progress.add(listener);
    return () => this.#progress.delete(listener);
  }

  async #run(): Promise<void> {
    while (!this.#closing) {
      try {
        if (this.#unsure) await this.#makeSure();
        await this.#adoptLease();
        const worked = !this.#paused && ((await this.#release()) || (await this.#flow()));
        this.#failures = 0;
        if (!worked) await this.#rest();
      } catch (error) {
        await this.#recover(error);
      }
    }
    // What is not written is passed over again by whoever comes next.
    await this.#holdings.flush().catch(() => {});
  }

  /** C2: the batch in doubt is either behind now, or to be tried again. */
  async #makeSure(): Promise<void> {
    await this.#holdings.reread();
    this.#unsure = false;
    this.#progressed();
  }

  async #rest(): Promise<void> {
    const { flushIn } = this.#holdings;
    if (flushIn === 0) await this.#holdings.flush();
    else await this.#signal.wait(Math.min(flushIn, IDLE_MS));
  }

  async #recover(error: unknown): Promise<void> {
    const { logger, leases } = this.#options;
    if (error instanceof Fenced) {
      logger.info({ group: this.#group }, error.message);
      this.#retryUpTo = Number.POSITIVE_INFINITY;
      await leases.beat();
      return;
    }
    if (error instanceof CommitUnknown) this.#unsure = true;
    this.#failures++;
    const delay = retryDelay(this.#failures, error);
    const report = { group: this.#group, attempt: this.#failures, delayMs: Math.round(delay), err: error };
    if (isWorthAnotherTry(error)) logger.warn(report, 'batch not handled: trying the same one again');
    else logger.error(report, 'the group cannot go on: trying again');
    const until = performance.now() + delay;
    for (let left = delay; left > 0 && !this.#closing; left = until - performance.now()) await this.#signal.wait(left);
  }

  /** Takes over what the last heartbeat said: buckets gained, lost and moved, keys to release; and makes room for other members. */
  async #adoptLease(): Promise<void> {
    const lease = this.#lease;
    if (!lease) return;
    const parked = await this.#holdings.adopt(lease.owned);
    if (this.#lease === lease) this.#lease = null;
    this.#paused = lease.paused;
    for (const stream of lease.releases) this.#releases.add(stream);
    if (parked) {
      this.#retryUpTo = Number.POSITIVE_INFINITY;
      // B4: what an older version did not know, this one may.
      for (const [stream, mark] of parked) if (this.#nowKnown(mark)) this.#releases.add(stream);
      this.#progressed();
    }
    const extra = this.#holdings.all().slice(lease.share);
    if (extra.length === 0) return;
    await this.#holdings.flush();
    const buckets = extra.map((one) => one.bucket);
    await this.#options.leases.giveBack(this.#group, buckets);
    this.#holdings.drop(buckets);
  }

  /**
   * One key whose release was asked for; false when there is none. One in a bucket that is moved back waits until the replay is over: what
   * waits of the key was never handled, and the replay would take it for something that was.
   */
  async #release(): Promise<boolean> {
    const stream = [...this.#releases].find((one) => !this.#replays(this.#holdings.parked(one)));
    if (stream === undefined) return false;
    const mark = this.#holdings.parked(stream);
    const bucket = mark && this.#holdings.get(mark.bucket);
    if (mark && bucket && (this.#nowKnown(mark) || (await releaseRequested(this.#options.pool, this.#group, stream)))) {
      const course = new ReleaseCourse({ group: this.#group, stream, mark, bucket, holdings: this.#holdings });
      const { events } = await this.#options.store.readStream(stream);
      const waiting = events.filter((event) => event.position >= mark.position && event.position <= bucket.position);
      for (const batch of course.batches(
        waiting.filter((event) => !this.#left.has(event.type)),
        this.#batchSize,
      )) {
        await this.#delivery.deliver(batch, course);
      }
      this.#holdings.setParked(stream, course.parkedAgain);
    }
    this.#releases.delete(stream);
    return true;
  }

  #replays(mark: ParkedMark | undefined): boolean {
    const bucket = mark && this.#holdings.get(mark.bucket);
    return bucket !== undefined && bucket.position < bucket.replayUntil;
  }

  #nowKnown({ unknownType }: ParkedMark): boolean {
    return unknownType !== null && this.#known.has(unknownType);
  }

  /** The next batch of the flow; false when there is nothing to do. */
  async #flow(): Promise<boolean> {
    const from = this.#holdings.lowest;
    const head = this.#options.feed.position;
    if (this.#holdings.size === 0 || from >= head) return false;
    // The batch that failed is behind, or was of buckets that went to others: no longer a bound, which nothing here would get beyond.
    if (from >= this.#retryUpTo) this.#retryUpTo = Number.POSITIVE_INFINITY;
    // Buckets that came from elsewhere may be behind the others. They go first, up to where the others are.
    const behind = this.#holdings.all().filter((one) => one.position === from);
    const ahead = this.#holdings.all().filter((one) => one.position > from);
    const page = await this.#page(from, behind, head);
    const upTo = Math.min(page.upTo, this.#retryUpTo, ...ahead.map((one) => one.position));
    const events = page.events.filter((event) => event.position <= upTo && !this.#left.has(event.type));
    if (events.length === 0) {
      this.#holdings.pass(behind, upTo);
      this.#progressed();
      return true;
    }
    this.#retryUpTo = upTo;
    const course = this.#course(behind);
    for (const batch of replayRuns(events, upTo, course.replayUntil)) await this.#delivery.deliver(batch, course);
    this.#retryUpTo = Number.POSITIVE_INFINITY;
    return true;
  }

  async #page(from: number, behind: OwnedBucket[], head: number): Promise<{ events: StoredEvent[]; upTo: number }> {
    const buckets = new Set(behind.map((one) => one.bucket));
    const held = this.#options.feed.after(from, this.#batchSize);
    if (held) {
      const events = held.filter((event) => this.#categories.has(event.category) && buckets.has(event.bucket));
      // A feed may hold nothing of what lies between: it has got to its head all the same.
      return { events, upTo: held.length < this.#batchSize ? head : (held.at(-1) as StoredEvent).position };
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
    const holdings = this.#holdings;
    return {
      flows: (event) => holdings.flows(event),
      replayUntil: (event) => holdings.get(event.bucket)?.replayUntil ?? 0,
      move: (tx, upTo) => holdings.advance(tx, buckets, upTo),
      moved: (upTo, _delivered, parks) => {
        holdings.moved(buckets, upTo, parks);
        this.#progressed();
      },
    };
  }

  #progressed(): void {
    for (const listener of this.#progress) listener();
  }
}
