import type { Pool } from 'pg';
import { uuidOf } from '../ids.js';

/** Type of what the store itself appends to a stream it took the bodies out of (K4). */
export const REDACTED = 'stream.redacted';

/** Whether an event says that its stream was erased up to there. */
export const isRedaction = (event: { type: string }): boolean => event.type === REDACTED;

/**
 * Erasure (K4), as the schema's owner: takes the bodies of a stream's events away, and their metadata too when it names the person.
 * Every hash and proof stays valid; `verify` counts what was taken. Idempotency keys stay taken, without the hash of what they came with. The stream's last event then says so (`REDACTED`).
 * @returns number of events something was taken from; 0 when there was nothing left to take, and then nothing is appended.
 */
export async function redactStream(ownerPool: Pool, redaction: { stream: string; reason: string; metadata?: boolean }): Promise<number> {
  const { rows } = await ownerPool.query<{ taken: number }>('select event_store.redact_stream($1, $2, $3) as taken', [
    uuidOf(redaction.stream),
    redaction.reason,
    redaction.metadata ?? false,
  ]);
  return (rows[0] as { taken: number }).taken;
}
