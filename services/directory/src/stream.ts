import type { StoredEvent } from '@countersign/event-store';

/** What is true of every stream, whatever it is about. */

/** The store took the bodies out of the stream (K4), or says that it did: nothing more is known of it. */
export const isErasure = (event: { type: string; redacted: boolean }): boolean => event.redacted || event.type === 'stream.redacted';

/** The stream holds a type a newer release wrote (K10). The edge answers 503: what it means for who may is unknown here. */
export class UnknownEventError extends Error {
  override readonly name = 'Retryable';
  readonly options = { retryAfterMs: 60_000 };
  constructor(event: Pick<StoredEvent, 'type' | 'stream'>) {
    super(`This release does not know ${event.type} in ${event.stream}; a newer one wrote it. Upgrade this process.`);
  }
}

/** @throws {UnknownEventError} Stands where a switch over an event's types has named them all. */
export function unknownEvent(event: never): never {
  throw new UnknownEventError(event);
}
