/**
 * The signed identity the gateway vouches with (docs/architecture.md): `base64url(JSON)` `.` `base64url(HMAC-SHA256 of the first part)`.
 *
 * I1 A service accepts no request without it, on any route but its probes.
 * I2 It is bound to one service, method, path with query, and the exact bytes of the body, and ends after a minute: a copy of it serves nothing else.
 * I3 The signature is compared in constant time, before anything inside is believed.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { InternalIdentity } from '@countersign/contracts';
import { readJson } from '@countersign/evidence';

export const IDENTITY_HEADER = 'countersign-identity';

/**
 * How long a signed identity is good for; covers the clocks of two machines, not a replay at leisure. It is no lease on a session: the gateway
 * asks the directory's database on every request, keeps no answer, and signs for that one request and body (K16). So a decision is made in
 * a session that was open when its request came in; only what is under way at the moment of a revocation is still carried out.
 */
export const IDENTITY_LIFETIME_MS = 60_000;

export function bodyHash(body: Uint8Array | undefined): string {
  return createHash('sha256')
    .update(body ?? '')
    .digest('hex');
}

export const NO_BODY_HASH = bodyHash(undefined);

export function signIdentity(identity: InternalIdentity, key: string): string {
  const payload = Buffer.from(JSON.stringify(identity), 'utf8').toString('base64url');
  return `${payload}.${mac(payload, key).toString('base64url')}`;
}

/**
 * The identity when the header is genuine and meant for this request, else null. The body's hash is compared by the caller, once the body is there.
 * @param nowMs Unix milliseconds.
 */
export function verifyIdentity(
  header: string | undefined,
  key: string,
  request: { aud: string; method: string; path: string; nowMs: number },
): InternalIdentity | null {
  const [payload, signature, ...rest] = (header ?? '').split('.');
  if (!payload || !signature || rest.length > 0) return null;
  const given = Buffer.from(signature, 'base64url');
  const expected = mac(payload, key);
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return null;
  const identity = readJson(Buffer.from(payload, 'base64url').toString('utf8')) as InternalIdentity;
  const meant = identity.aud === request.aud && identity.method === request.method && identity.path === request.path;
  return meant && identity.exp > request.nowMs ? identity : null;
}

function mac(payload: string, key: string): Buffer {
  return createHmac('sha256', key).update(payload).digest();
}
