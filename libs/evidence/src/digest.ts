import { createHash } from 'node:crypto';
import { canonicalize } from './canonical.js';

/** `sha256:` and 64 lowercase hex digits. */
export type Digest = `sha256:${string}`;

/** Digest of bytes; text counts as its UTF-8 bytes. */
export function digestBytes(bytes: Uint8Array | string): Digest {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

/**
 * Digest of a JSON value over its RFC 8785 bytes.
 * @throws {NotCanonicalError} when the value has no canonical form.
 */
export function digest(value: unknown): Digest {
  return digestBytes(canonicalize(value));
}
