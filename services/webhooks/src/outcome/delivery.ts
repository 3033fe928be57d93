/**
 * A delivery as the log knows it: how it ended, and who had it sent again. Everything between is in the tables (K1). Pure.
 */
import type { DeliveryEvent } from '@countersign/contracts';
import { type Decision, type Fold, isRedaction, type StoredEvent, UnknownEventError } from '@countersign/event-store';

export interface DeliveryState {
  status: 'open' | 'delivered' | 'dead_lettered';
  replays: number;
}

type Body<T extends DeliveryEvent['type']> = Extract<DeliveryEvent, { type: T }>['body'];

/** How a round of attempts ended. */
export type Outcome =
  | { type: 'delivery.succeeded'; body: Body<'delivery.succeeded'> }
  | { type: 'delivery.dead_lettered'; body: Body<'delivery.dead_lettered'> };

export const deliveryFold: Fold<DeliveryState, DeliveryEvent> = {
  initial: () => ({ status: 'open', replays: 0 }),
  /** @throws {UnknownEventError} */
  evolve(state, event: StoredEvent<DeliveryEvent>) {
    // How it ended is in the types: a stream whose bodies were taken (K4) still says it.
    if (isRedaction(event)) return state;
    switch (event.type) {
      case 'delivery.succeeded':
        return { ...state, status: 'delivered' };
      case 'delivery.dead_lettered':
        return { ...state, status: 'dead_lettered' };
      case 'delivery.replayed':
        return { status: 'open', replays: state.replays + 1 };
      default:
        throw new UnknownEventError(event);
    }
  },
};

/** Records how a round ended, once: one that has been recorded, or was replayed since, is already so. */
export function recordOutcome(state: DeliveryState, outcome: Outcome): Decision<DeliveryEvent> {
  return state.status === 'open' && state.replays === outcome.body.replays ? { events: [outcome] } : { events: [] };
}

/** Sends a dead letter again. One that is open already is already so. */
export function replay(
  state: DeliveryState,
  command: Pick<Body<'delivery.replayed'>, 'review_id' | 'event_type' | 'by'>,
): Decision<DeliveryEvent, 'already_delivered'> {
  if (state.status === 'delivered') {
    return { events: [], refusal: { code: 'already_delivered', message: 'Already delivered.' } };
  }
  if (state.status === 'open') return { events: [] };
  const { review_id, event_type, by } = command;
  return { events: [{ type: 'delivery.replayed', body: { review_id, event_type, replay: state.replays + 1, by } }] };
}
