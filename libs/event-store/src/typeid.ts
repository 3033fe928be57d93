/**
 * TypeID's two halves done in place: UUIDv7 and Crockford base32. Every event carries three ids both ways through the store, and the
 * published package takes 1.5 to 3 microseconds for each; it stays the oracle these functions are tested against.
 */
import { randomFillSync } from 'node:crypto';

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const CHARACTERS = [...ALPHABET];
/** Two base32 characters for each ten bits. */
const PAIRS = Array.from({ length: 1024 }, (_, n) => `${CHARACTERS[n >> 5]}${CHARACTERS[n & 31]}`);
const VALUES = new Int8Array(128).fill(-1);
for (const [value, character] of CHARACTERS.entries()) VALUES[character.charCodeAt(0)] = value;
const HEX = Array.from({ length: 256 }, (_, n) => n.toString(16).padStart(2, '0'));

/** Characters of an encoded uuid. */
export const SUFFIX_LENGTH = 26;

/** The 26 characters of a uuid's 16 bytes: 130 bits, the first two zero. */
export function encodeBase32(bytes: Uint8Array): string {
  // Seen as 13 groups of ten bits; the first holds the two leading zeros.
  let text = '';
  let bits = 0;
  let held = 2;
  for (let i = 0; i < 16; i++) {
    bits = ((bits << 8) | (bytes[i] as number)) & 0x3ffff;
    held += 8;
    if (held >= 10) {
      held -= 10;
      text += PAIRS[(bits >> held) & 1023];
    }
  }
  return text;
}

/** The 16 bytes behind 26 characters from `start`; null when they are not base32 of a uuid. */
export function decodeBase32(text: string, start = 0): Uint8Array | null {
  if (text.length !== start + SUFFIX_LENGTH) return null;
  const bytes = new Uint8Array(16);
  let bits = 0;
  let held = -2;
  let at = 0;
  for (let i = start; i < text.length; i++) {
    const code = text.charCodeAt(i);
    const value = code < 128 ? (VALUES[code] as number) : -1;
    if (value < 0 || (i === start && value > 7)) return null;
    bits = ((bits << 5) | value) & 0xffff;
    held += 5;
    if (held >= 8) {
      held -= 8;
      bytes[at++] = (bits >> held) & 255;
    }
  }
  return bytes;
}

export function uuidText(bytes: Uint8Array): string {
  let text = '';
  for (let i = 0; i < 16; i++) {
    if (i === 4 || i === 6 || i === 8 || i === 10) text += '-';
    text += HEX[bytes[i] as number];
  }
  return text;
}

/** @returns null when the text is not a uuid. */
export function uuidBytes(text: string): Uint8Array | null {
  if (text.length !== 36) return null;
  const bytes = new Uint8Array(16);
  let at = 0;
  for (let i = 0; i < 36; i += 2) {
    if (i === 8 || i === 13 || i === 18 || i === 23) {
      if (text.charCodeAt(i) !== 45) return null;
      i += 1;
    }
    const high = hexValue(text.charCodeAt(i));
    const low = hexValue(text.charCodeAt(i + 1));
    if ((high | low) < 0) return null;
    bytes[at++] = (high << 4) | low;
  }
  return bytes;
}

function hexValue(code: number): number {
  if (code >= 48 && code <= 57) return code - 48;
  const letter = code | 32;
  return letter >= 97 && letter <= 102 ? letter - 87 : -1;
}

const pool = new Uint8Array(4096);
let poolAt = pool.length;
let lastMs = 0;
let sequence = 0;

/** A UUIDv7 (RFC 9562 §5.7). Ids of one process rise strictly: within a millisecond the 12 bits after the version count up. */
export function uuidV7(): Uint8Array {
  if (poolAt + 10 > pool.length) {
    randomFillSync(pool);
    poolAt = 0;
  }
  const bytes = new Uint8Array(16);
  for (let i = 6; i < 16; i++) bytes[i] = pool[poolAt++] as number;
  const now = Date.now();
  if (now > lastMs) {
    lastMs = now;
    // Starts in the lower half, so that a millisecond has room for 2,048 more.
    sequence = (((bytes[6] as number) << 8) | (bytes[7] as number)) & 0x7ff;
  } else if (++sequence > 0xfff) {
    lastMs += 1;
    sequence = 0;
  }
  let ms = lastMs;
  for (let i = 5; i >= 0; i--) {
    bytes[i] = ms % 256;
    ms = Math.floor(ms / 256);
  }
  bytes[6] = 0x70 | (sequence >> 8);
  bytes[7] = sequence & 255;
  bytes[8] = 0x80 | ((bytes[8] as number) & 0x3f);
  return bytes;
}
