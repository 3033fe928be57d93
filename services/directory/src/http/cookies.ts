import { DEVICE_COOKIE, SESSION_COOKIE } from '@countersign/contracts';

/**
 * The inbox's cookies. HttpOnly, so that no script reads them; `SameSite=Lax` for the session, so that the link of an e-mail arrives signed
 * in (the gateway refuses changing requests of other sites); Secure wherever the inbox is reached over https.
 */
export function sessionCookie(token: string, maxAgeSeconds: number, publicUrl: string): string {
  return `${SESSION_COOKIE}=${token}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${maxAgeSeconds}${secure(publicUrl)}`;
}

export const endedSessionCookie = (publicUrl: string): string =>
  `${SESSION_COOKIE}=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0${secure(publicUrl)}`;

/** Sent to the sign-in routes only. */
export function deviceCookie(token: string, publicUrl: string): string {
  return `${DEVICE_COOKIE}=${token}; Path=/api/v1/auth; HttpOnly; SameSite=Strict; Max-Age=${180 * 86_400}${secure(publicUrl)}`;
}

const secure = (publicUrl: string): string => (publicUrl.startsWith('https:') ? '; Secure' : '');

/** The value of a cookie of ours in a `Cookie` header, or null. */
export function cookieValue(header: string | undefined, name: string): string | null {
  for (const pair of (header ?? '').split(';')) {
    const [key, value] = pair.trim().split('=', 2);
    if (key === name && value) return value;
  }
  return null;
}
