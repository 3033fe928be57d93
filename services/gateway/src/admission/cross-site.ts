import type { IncomingHttpHeaders } from 'node:http';

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Whether a browser sent a changing request on behalf of another site. The session cookie rides along whoever asks, so such a request is
 * refused (`csrf_failed`); a bearer is put there by the caller itself and needs no check.
 *
 * Browsers say where a request comes from in `Sec-Fetch-Site`, and in `Origin` where they are older. A request on a cookie that has neither is
 * refused too: it is no browser, and whoever is none can send a bearer.
 * @param options.onCookie the request is authenticated by the cookie, or will set it.
 */
export function isCrossSite(
  request: { method: string; headers: IncomingHttpHeaders },
  options: { allowedOrigin: string | undefined; onCookie: boolean },
): boolean {
  if (SAFE.has(request.method)) return false;
  const { origin, host, 'sec-fetch-site': site } = request.headers;
  if (origin !== undefined && origin === options.allowedOrigin) return false;
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  if (origin !== undefined) return URL.parse(origin)?.host !== host;
  return options.onCookie;
}
