import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
import { isCommonPassword } from './common-passwords.js';

/**
 * Passwords: scrypt with its parameters stored beside the result, in the PHC form `$scrypt$ln=15,r=8,p=3$salt$hash` (base64 without padding).
 *
 * W1 the parameters of a stored verifier are the ones it is checked with, so the cost can be raised without locking anyone out.
 * W2 a check against nobody costs the same as a check against somebody (`nobody`), so an unknown e-mail cannot be told by the clock.
 */
export interface ScryptCost {
  /** Binary logarithm of N. */
  ln: number;
  r: number;
  p: number;
}

export const PASSWORD_LENGTH = { min: 12, max: 128 } as const;

export type PasswordFault = 'too_short' | 'too_long' | 'breached';

/** Length in characters, and the embedded list of common passwords. null = fine. */
export function passwordFault(password: string): PasswordFault | null {
  const length = [...password].length;
  if (length < PASSWORD_LENGTH.min) return 'too_short';
  if (length > PASSWORD_LENGTH.max) return 'too_long';
  return isCommonPassword(password) ? 'breached' : null;
}

const KEY_LENGTH = 32;
const PHC = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]{22})\$([A-Za-z0-9+/]{43})$/;

const base64 = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '');

function derive(password: string, salt: Buffer, cost: ScryptCost): Promise<Buffer> {
  const options: ScryptOptions = { N: 2 ** cost.ln, r: cost.r, p: cost.p, maxmem: 256 * 2 ** cost.ln * cost.r };
  return new Promise((resolve, reject) => {
    scrypt(password.normalize('NFKC'), salt, KEY_LENGTH, options, (error, key) => (error ? reject(error) : resolve(key)));
  });
}

export async function hashPassword(password: string, cost: ScryptCost): Promise<string> {
  const salt = randomBytes(16);
  const key = await derive(password, salt, cost);
  return `$scrypt$ln=${cost.ln},r=${cost.r},p=${cost.p}$${base64(salt)}$${base64(key)}`;
}

/** A verifier nobody has the password of, at the given cost. */
export const nobody = (cost: ScryptCost): string =>
  `$scrypt$ln=${cost.ln},r=${cost.r},p=${cost.p}$${base64(Buffer.alloc(16, 1))}$${base64(randomBytes(KEY_LENGTH))}`;

/** @throws {Error} when the stored verifier has an unknown form. */
export async function verifyPassword(password: string, verifier: string): Promise<boolean> {
  const [, ln, r, p, salt, expected] = PHC.exec(verifier) ?? [];
  if (!salt || !expected) throw new Error('A stored password hash has an unknown format; the person needs a new password.');
  const key = await derive(password, Buffer.from(salt, 'base64'), { ln: Number(ln), r: Number(r), p: Number(p) });
  return timingSafeEqual(key, Buffer.from(expected, 'base64'));
}
