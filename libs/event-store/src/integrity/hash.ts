/**
 * The event hash (decisions K3), as the append function takes it. An independent verifier needs nothing but this page.
 *
 * Integers are big-endian. `commitment = SHA-256(salt ‖ UTF-8 bytes)` of the body's and the metadata's canonical JSON (RFC 8785).
 * `hash = SHA-256(header)`, header =
 *   int32 length and bytes of "countersign.event.1" · project (16 bytes) · shard int32 · position int64 · stream (16) · version int32 ·
 *   event id (16) · int32 length and bytes of the type · schema version int32 · time int64, microseconds since 1970 ·
 *   body commitment (32) · metadata commitment (32) · hash of the stream's event before (32; zeros for the first)
 */
import { hash } from 'node:crypto';

export interface HashedEvent {
  /** Uuids as 16 bytes each. */
  project: Uint8Array;
  stream: Uint8Array;
  id: Uint8Array;
  shard: number;
  position: number;
  version: number;
  type: string;
  schemaVersion: number;
  timeMicroseconds: bigint;
  bodyCommitment: Uint8Array;
  metaCommitment: Uint8Array;
  previousHash: Uint8Array;
}

const FORMAT = Buffer.from('countersign.event.1');
export const NO_PREVIOUS = Buffer.alloc(32);
/** Buckets of all streams (K11), as `event_store.bucket_of` has them; `hasBuckets` tells whether a database does. */
export const BUCKETS = 12;

export function commitment(salt: Uint8Array, text: string): Buffer {
  return hash('sha256', Buffer.concat([salt, Buffer.from(text)]), 'buffer');
}

export function eventHeader(event: HashedEvent): Buffer {
  const type = Buffer.from(event.type);
  const header = Buffer.allocUnsafe(4 + FORMAT.length + 16 + 4 + 8 + 16 + 4 + 16 + 4 + type.length + 4 + 8 + 96);
  let at = header.writeInt32BE(FORMAT.length, 0);
  const bytes = (value: Uint8Array) => {
    header.set(value, at);
    at += value.length;
  };
  bytes(FORMAT);
  bytes(event.project);
  at = header.writeInt32BE(event.shard, at);
  at = header.writeBigInt64BE(BigInt(event.position), at);
  bytes(event.stream);
  at = header.writeInt32BE(event.version, at);
  bytes(event.id);
  at = header.writeInt32BE(type.length, at);
  bytes(type);
  at = header.writeInt32BE(event.schemaVersion, at);
  at = header.writeBigInt64BE(event.timeMicroseconds, at);
  bytes(event.bodyCommitment);
  bytes(event.metaCommitment);
  bytes(event.previousHash);
  return header;
}

export function eventHash(event: HashedEvent): Buffer {
  return hash('sha256', eventHeader(event), 'buffer');
}

/** Bucket of a stream: the first four bytes of its uuid's SHA-256 as an unsigned integer, modulo their number. */
export function bucketOf(stream: Uint8Array, buckets = BUCKETS): number {
  return hash('sha256', stream, 'buffer').readUInt32BE(0) % buckets;
}
