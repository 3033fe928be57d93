/** The one way a command reaches an existing review: load, judge, append (three hops). Used by the services of all three actors. */
import type { Actor, ErrorCode, ReviewEvent, SystemActor } from '@countersign/contracts';
import { type EventStore, type Handled, handle, isId, type StoredEvent } from '@countersign/event-store';
import type { Judged } from './commands/elapse.js';
import { reviewMeta } from './labels.js';
import { initial, reviewFold } from './review.js';
import { measureSettled } from './rules/settled.js';
import type { ReviewState } from './state.js';

export type HandledReview = Handled<ReviewState, ErrorCode>;

export interface ReviewCommand {
  review_id: string;
  /** Null: the clock. */
  actor: Actor | SystemActor | null;
  request_id?: string;
  /** Id of the event that made software send the command. */
  caused_by?: string;
  /** Deterministic id of a command sent by software (K9). */
  command_id?: string;
  decide: (state: ReviewState, now: string) => Judged;
}

/** A review as its stream has it, with the database's time; status `none` for an id that is none. Settle it before showing it (`toWire`). */
export async function loadReview(
  store: EventStore,
  id: string,
  options?: { upToVersion?: number },
): Promise<{ state: ReviewState; now: string; version: number; events: StoredEvent<ReviewEvent>[] }> {
  if (!isId('rev', id)) return { state: initial(), now: (await store.head()).now, version: 0, events: [] };
  const { events, now, version } = await store.readStream<ReviewEvent>(id, options);
  return { state: events.reduce(reviewFold.evolve, reviewFold.initial()), now, version, events };
}

/**
 * An id that cannot be a review's is judged as one that does not exist, so that it is refused in the same order and with the same code.
 * @throws {UnknownEventError} when a newer release wrote to the stream (K10).
 */
export async function onReview(store: EventStore, command: ReviewCommand): Promise<HandledReview> {
  const { review_id, actor, request_id, caused_by, command_id, decide } = command;
  if (!isId('rev', review_id)) {
    const { state, now } = await loadReview(store, review_id);
    return { state, version: 0, events: [], refusal: decide(state, now).refusal, repeated: false, position: 0, now };
  }
  const handled = await handle<ReviewState, ReviewEvent, ErrorCode>(store, {
    stream: review_id,
    fold: reviewFold,
    decide,
    meta: reviewMeta({ actor, request_id, caused_by }),
    commandId: command_id,
  });
  measureSettled(handled);
  return handled;
}
