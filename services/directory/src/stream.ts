import { isRedaction, UnknownEventError } from '@countersign/event-store';

/** What is true of every stream, whatever it is about. */

/** The store took the bodies out of the stream (K4), or says that it did: nothing more is known of it. */
export const isErasure = (event: { type: string; redacted: boolean }): boolean => event.redacted || isRedaction(event);

/** @throws {UnknownEventError} Stands where a switch over an event's types has named them all. */
export function unknownEvent(event: never): never {
  throw new UnknownEventError(event);
}
