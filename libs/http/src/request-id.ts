import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

const ACCEPTABLE = /^[A-Za-z0-9._-]{8,128}$/;

/** The caller's `X-Request-Id` where it is acceptable, else a fresh one (HRP §0). */
export function requestIdOf(headers: IncomingHttpHeaders): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && ACCEPTABLE.test(given) ? given : randomUUID();
}
