import type { StoredEvent } from './types.js';

/**
 * A fold met a type that a newer release wrote (K10): what it means for the command is unknown. It does not pass by itself, so it is no
 * `Retryable`: a consumer parks the key and lets the others flow, where trying the batch again would hold up all of them until an upgrade.
 * An edge answers 503 all the same, since the upgrade that has begun elsewhere comes here, too.
 */
export class UnknownEventError extends Error {
  override readonly name = 'UnknownEventError';
  readonly retryAfterMs = 60_000;
  constructor(event: Pick<StoredEvent, 'type' | 'stream'>) {
    super(`The event ${event.type} in ${event.stream} was written by a newer release. Upgrade this server.`);
  }
}
