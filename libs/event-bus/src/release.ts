/** A parked key on its way back into the flow: what waits is delivered in order, and with the last of it the key is free. */
import type { StoredEvent } from '@countersign/event-store';
import type { PoolClient } from 'pg';
import type { Batch, Course } from './delivery.js';
import type { OwnedBucket } from './leases.js';
import { type Park, type ParkedMark, writeReleased } from './parking.js';

export class ReleaseCourse implements Course {
  readonly #options: { group: string; stream: string; mark: ParkedMark; bucket: OwnedBucket; member: string };
  /** Where the key stands after an event failed again. */
  parkedAgain: ParkedMark | null = null;

  constructor(options: { group: string; stream: string; mark: ParkedMark; bucket: OwnedBucket; member: string }) {
    this.#options = options;
  }

  /** At least one batch, so that a key of which nothing is left to deliver is released too. */
  batches(waiting: StoredEvent[], size: number): Batch[] {
    const { mark, bucket } = this.#options;
    const batches: Batch[] = [];
    for (const event of waiting) {
      const replay = event.position <= mark.replayUntil;
      const last = batches.at(-1);
      if (last && last.replay === replay && last.events.length < size) last.events.push(event);
      else batches.push({ events: [event], upTo: event.position, replay });
    }
    for (const batch of batches) batch.upTo = (batch.events.at(-1) as StoredEvent).position;
    const last = batches.at(-1);
    if (last) last.upTo = bucket.position;
    return last ? batches : [{ events: [], upTo: bucket.position, replay: false }];
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
    const { group, stream, bucket, member } = this.#options;
    const parked = parks[0];
    const done = !parked && upTo >= bucket.position;
    await writeReleased(tx, group, stream, { position: parked?.event.position ?? upTo + 1, replayed: delivered, done });
    const { rows } = await tx.query<{ held: boolean }>('select event_bus.advance($1, $2, $3, $4, 0) as held', [
      group,
      member,
      [bucket.bucket],
      [bucket.epoch],
    ]);
    return rows[0]?.held === true;
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
