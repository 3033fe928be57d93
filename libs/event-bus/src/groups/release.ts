/** A parked key on its way back into the flow: what waits is delivered in order, and with the last of it the key is free. */
import type { StoredEvent } from '@countersign/event-store';
import type { PoolClient } from 'pg';
import { type Batch, type Course, replayRuns } from './delivery.js';
import type { Holdings } from './holdings.js';
import type { OwnedBucket } from './leases.js';
import { type Park, type ParkedMark, writeReleased } from './parking.js';

export class ReleaseCourse implements Course {
  readonly #options: { group: string; stream: string; mark: ParkedMark; bucket: OwnedBucket; holdings: Holdings };
  /** Where the key stands after an event failed again. */
  parkedAgain: ParkedMark | null = null;

  constructor(options: { group: string; stream: string; mark: ParkedMark; bucket: OwnedBucket; holdings: Holdings }) {
    this.#options = options;
  }

  /** At least one batch, so that a key of which nothing is left to deliver is released too. */
  batches(waiting: StoredEvent[], size: number): Batch[] {
    const { bucket } = this.#options;
    const runs = replayRuns(waiting, bucket.position, () => this.replayUntil(), size);
    return runs.length > 0 ? runs : [{ events: [], upTo: bucket.position, replay: false }];
  }

  flows(): boolean {
    return this.parkedAgain === null;
  }

  replayUntil(): number {
    return this.#options.mark.replayUntil;
  }

  /** The epoch is asked for, not the cursor moved: whoever took the bucket over has this key to release. */
  async move(tx: PoolClient, upTo: number, delivered: number, parks: Park[]): Promise<boolean> {
    // What stands behind an event that failed again waits with it.
    if (this.parkedAgain) return true;
    const { group, stream, bucket, holdings } = this.#options;
    const parked = parks[0];
    const done = !parked && upTo >= bucket.position;
    await writeReleased(tx, group, stream, { position: parked?.event.position ?? upTo + 1, replayed: delivered, done });
    return holdings.advance(tx, [bucket], 0);
  }

  /** The mark moves along, so that a release that is interrupted goes on where it stopped. */
  moved(upTo: number, _delivered: number, parks: Park[]): void {
    const [parked] = parks;
    if (this.parkedAgain) return;
    if (!parked) {
      this.#options.mark.position = Math.max(this.#options.mark.position, upTo + 1);
      return;
    }
    const { event, unknownType, replayUntil } = parked;
    this.parkedAgain = { bucket: event.bucket, position: event.position, replayUntil, unknownType: unknownType ? event.type : null };
  }
}
