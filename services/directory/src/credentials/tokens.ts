import { createHash, randomBytes } from 'node:crypto';

/**
 * Random credentials and what is kept of them (decision K1).
 *
 * T1 the database holds a hash of a token, never the token; 256 random bits need no salt.
 * T2 the log holds a fingerprint, which is a hash of the kept value under its own domain: it says that a credential changed and which
 *    row is the current one, and cannot be compared with a token that leaked elsewhere.
 */
export type CredentialKind = 'api_key' | 'password' | 'webhook_secret' | 'invitation';

/** `gwk_` and 64 lowercase hex digits (HRP §10). */
export const RAW_KEY = /^gwk_[0-9a-f]{64}$/;

/** What a key starts with when it is listed: `gwk_` and eight characters. */
export const keyPrefix = (rawKey: string): string => rawKey.slice(0, 12);

export const newRawKey = (): string => `gwk_${randomBytes(32).toString('hex')}`;

/** An opaque bearer token: prefix and 256 random bits in base64url. */
export const newToken = (prefix: 'cst_' | 'csl_' | 'csi_' | 'csd_'): string => `${prefix}${randomBytes(32).toString('base64url')}`;

/** The only form in which a token or key is stored. */
export const tokenHash = (token: string): Buffer => createHash('sha256').update(token, 'utf8').digest();

/** `sha256:` and lowercase hex over the kept form of a credential. */
export function fingerprintOf(kind: CredentialKind, kept: Buffer | string): string {
  return `sha256:${createHash('sha256').update(`countersign/${kind}\0`).update(kept).digest('hex')}`;
}
