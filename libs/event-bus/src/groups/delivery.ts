/**
 * One batch through one handler, in one transaction with the mark that says so; and when the handler refuses it, the search for the event
 * that is to blame.
 *
 * D1 The handler's effects and the mark (cursor, or a parked key's position) commit together or not at all.
 * D2 A failure that passes, or a lost epoch, leaves everything as it was and is the caller's to try again; after a commit that failed
 *    (CommitUnknown) only once the cursors have been read anew.
 * D3 Any other failure halves the batch, each half in its own transaction and in order, down to the event that fails alone. It parks its
 *    key; the rest of the batch goes through.
 */
import { inTransaction, isPassing, sqlState } from '@countersign/database';
import type { StoredEvent } from '@countersign/event-store';
import type { Pool, PoolClient } from 'pg';
import type { Subscription } from '../port.js';
import { CommitUnknown, Fenced, isWorthAnotherTry, reasonOf } from './failure.js';
import { observedBatch } from './observed-batch.js';
import { type Park, writeParks } from './parking.js';

/** Where events come from: the group's flow, or a parked key that is being released. */
export interface Course {
  /** False when the event's key is parked at or before it. */
  flows(event: StoredEvent): boolean;
  /** Position up to which events of its bucket were handled before. */
  replayUntil(event: StoredEvent): number;
  /** Moves the mark; false when the right to do so was lost. */
  move(tx: PoolClient, upTo: number, delivered: number, parks: Park[]): Promise<boolean>;
  /** Told after the commit. */
  moved(upTo: number, delivered: number, parks: Park[]): void;
}

export interface Batch {
  /** In position order, of types the subscription handles or does not know. */
  events: StoredEvent[];
  /** Where the mark stands when all of it is done. */
  upTo: number;
  replay: boolean;
}

export class Delivery {
  readonly #pool: Pool;
  readonly #subscription: Subscription;
  readonly #handled: ReadonlySet<string>;
  readonly #onPark: (park: Park, error: unknown) => void;

  constructor(options: { pool: Pool; subscription: Subscription; onPark(park: Park, error: unknown): void }) {
    this.#pool = options.pool;
    this.#subscription = options.subscription;
    this.#handled = new Set(options.subscription.handles);
    this.#onPark = options.onPark;
  }

  /**
   * @throws {Fenced} the cursors are no longer ours.
   * @throws {CommitUnknown} the batch may have been applied.
   * @throws what the handler threw when it passes (`isWorthAnotherTry`), and whatever the database refuses that no event is to blame for.
   */
  async deliver(batch: Batch, course: Course): Promise<void> {
    const { due, parks } = this.#sift(batch.events, course);
    try {
      await this.#commit(due, parks, batch, course);
    } catch (error) {
      const culprit = due[0];
      if (culprit === undefined || error instanceof Fenced || isWorthAnotherTry(error)) throw error;
      if (due.length === 1) {
        const park = { event: culprit, reason: reasonOf(error), unknownType: false, replayUntil: course.replayUntil(culprit) };
        await this.#commit([], inOrder([...parks, park]), batch, course);
        this.#onPark(park, error);
        return;
      }
      const middle = (due[(due.length >> 1) - 1] as StoredEvent).position;
      await this.deliver({ ...batch, events: batch.events.filter((event) => event.position <= middle), upTo: middle }, course);
      await this.deliver({ ...batch, events: batch.events.filter((event) => event.position > middle) }, course);
    }
  }

  /** Leaves out what waits behind a parked key, and parks the keys of unknown types. */
  #sift(events: StoredEvent[], course: Course): { due: StoredEvent[]; parks: Park[] } {
    const due: StoredEvent[] = [];
    const parks: Park[] = [];
    const parkedHere = new Set<string>();
    for (const event of events) {
      if (parkedHere.has(event.stream) || !course.flows(event)) continue;
      if (this.#handled.has(event.type)) {
        due.push(event);
        continue;
      }
      parkedHere.add(event.stream);
      parks.push({
        event,
        reason: `${event.type} is a type this version of ${this.#subscription.group} neither handles nor leaves`,
        unknownType: true,
        replayUntil: course.replayUntil(event),
      });
    }
    return { due, parks };
  }

  async #commit(due: StoredEvent[], parks: Park[], batch: Batch, course: Course): Promise<void> {
    const { group } = this.#subscription;
    let committing = false;
    const work = async (tx: PoolClient): Promise<void> => {
      committing = false;
      if (due.length > 0) await this.#subscription.onBatch(due, { tx, group, replay: batch.replay });
      await writeParks(tx, group, parks);
      if (!(await course.move(tx, batch.upTo, due.length, parks))) throw new Fenced(`${group} lost its cursors; the batch was undone`);
      committing = true;
    };
    await observedBatch(group, due, batch.replay, () =>
      inTransaction(this.#pool, work).catch((error: unknown) => {
        throw committing && !isRefusal(error)
          ? new CommitUnknown(`It is unknown whether a batch of ${group} was committed.`, { cause: error })
          : error;
      }),
    );
    course.moved(batch.upTo, due.length, parks);
    for (const park of parks) if (park.unknownType) this.#onPark(park, undefined);
  }
}

/** PostgreSQL's own word that it did not commit, as where a constraint is checked only then: nothing is unknown about that. */
const isRefusal = (error: unknown): boolean => sqlState(error) !== undefined && !isPassing(error);

/** Cuts events into batches that are all replayed or all new, of at most `size`; the mark reaches `upTo` with the last. */
export function replayRuns(
  events: StoredEvent[],
  upTo: number,
  replayUntil: (event: StoredEvent) => number,
  size = Number.POSITIVE_INFINITY,
): Batch[] {
  const batches: Batch[] = [];
  for (const event of events) {
    const replay = event.position <= replayUntil(event);
    const last = batches.at(-1);
    if (last && last.replay === replay && last.events.length < size) {
      last.events.push(event);
      last.upTo = event.position;
    } else batches.push({ events: [event], upTo: event.position, replay });
  }
  const last = batches.at(-1);
  if (last) last.upTo = upTo;
  return batches;
}

/** The first park of a stream counts: an unknown type behind the poison event waits with the rest. */
function inOrder(parks: Park[]): Park[] {
  const first = new Map<string, Park>();
  for (const park of parks.sort((a, b) => a.event.position - b.event.position)) {
    if (!first.has(park.event.stream)) first.set(park.event.stream, park);
  }
  return [...first.values()];
}
