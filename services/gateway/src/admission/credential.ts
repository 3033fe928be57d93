import { SESSION_COOKIE } from '@countersign/contracts';
import type { FastifyRequest } from 'fastify';

/** What a caller identifies with, not yet looked at. */
export interface Credential {
  via: 'bearer' | 'cookie';
  text: string;
}

/** The credential of a request: the bearer where there is one, else the inbox's cookie. Other schemes of `Authorization` are none. */
export function credentialOf({ headers, cookies }: Pick<FastifyRequest, 'headers' | 'cookies'>): Credential | null {
  const bearer = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1];
  if (bearer) return { via: 'bearer', text: bearer };
  if (headers.authorization !== undefined) return null;
  const cookie = cookies[SESSION_COOKIE];
  return cookie ? { via: 'cookie', text: cookie } : null;
}

export function isApiKey(credential: Credential): boolean {
  return credential.via === 'bearer' && credential.text.startsWith('gwk_');
}
