import { isIP } from 'node:net';
import { type Network, reservedRange } from './networks.js';

/** Longest URL accepted, in characters of its serialised form. */
const MAX_LENGTH = 2_048;

/** Why an address is not called: the value a create request is refused with (HRP §1.2b). */
export interface CallbackRefusal {
  code: 'invalid_callback_url';
  message: string;
  param: 'callback_url';
}

export interface ResolvedAddress {
  address: string;
  family: 4 | 6;
}

/**
 * Turns a host name into all its addresses; the port a test replaces to play a name that changes its address (DNS rebinding).
 * Rejects with the system's error (`ENOTFOUND`, `EAI_AGAIN`, …) when there are none.
 */
export type Resolve = (hostname: string) => Promise<readonly ResolvedAddress[]>;

export function refuse(message: string): CallbackRefusal {
  return { code: 'invalid_callback_url', message, param: 'callback_url' };
}

/**
 * Everything about a callback that can be told without the network. The URL standard's parser does the reading, so that `http://0x7f.1`,
 * `http://2130706433` and `http://[::ffff:7f00:1]` are seen as the addresses they are.
 */
export function parseCallbackUrl(text: string, allowed: readonly Network[]): URL | CallbackRefusal {
  const url = URL.parse(text);
  if (!url) return refuse('callback_url must be an absolute URL.');
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return refuse('callback_url must use http or https.');
  if (url.username !== '' || url.password !== '') {
    return refuse(
      'callback_url must not contain a user name or password, because the delivery log shows it. Verify the webhook signature instead.',
    );
  }
  if (url.href.length > MAX_LENGTH) return refuse(`callback_url must not exceed ${MAX_LENGTH} characters.`);
  const host = hostOf(url);
  if (isIP(host) === 0) return url;
  const range = reservedRange(host, allowed);
  return range ? refuse(refusedAddress(host, range)) : url;
}

/** The host without the brackets of an IPv6 literal. */
export function hostOf(url: URL): string {
  return url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname;
}

export function refusedAddress(address: string, range: string): string {
  return `${address} is in a blocked range (${range}). An operator can allow the network in WEBHOOK_ALLOW_NETWORKS.`;
}
