import { lookup } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import { type Resolve, type ResolvedAddress, refusedAddress } from './callback-url.js';
import { type Network, reservedRange } from './networks.js';

/** A step before the first byte failed; nothing was sent. */
export class BeforeSending extends Error {
  override readonly name = 'BeforeSending';
  constructor(
    readonly code: 'address_refused' | 'unresolvable' | 'connect_failed',
    message: string,
    options?: { cause?: unknown },
  ) {
    super(message, options);
  }
}

/** The system's resolver, one look-up at a time for each name: a name whose servers are dead holds one thread of libuv's pool, not all of them. */
export function systemResolve(): Resolve {
  const running = new Map<string, Promise<readonly ResolvedAddress[]>>();
  return (hostname) => {
    const already = running.get(hostname);
    if (already) return already;
    const started = lookup(hostname, { all: true, order: 'verbatim' })
      .then((found) => found.map(({ address, family }) => ({ address, family: family === 6 ? (6 as const) : (4 as const) })))
      .finally(() => running.delete(hostname));
    running.set(hostname, started);
    return started;
  };
}

/**
 * Opens connections to checked addresses only (decision 12).
 *
 * G1 Every address a name resolves to is checked when the connection is made; one refused address refuses the name.
 * G2 The socket connects to the addresses that were checked: the answer of that very look-up is handed to it, the name is not resolved again.
 * G3 An address written as the host is checked too, although no look-up happens for it.
 */
export function guardedConnect(resolve: Resolve, allowed: readonly Network[], timeoutMs: number): buildConnector.connector {
  const checkedLookup: LookupFunction = (hostname, options, callback) => {
    checkedAddresses(hostname, resolve, allowed).then(
      (addresses) => {
        const first = addresses[0] as ResolvedAddress;
        if (options.all) callback(null, [...addresses]);
        else callback(null, first.address, first.family);
      },
      (error: Error) => callback(error, '', 0),
    );
  };
  const connect = buildConnector({ lookup: checkedLookup, timeout: timeoutMs, allowH2: false });
  return (options, callback) => {
    const range = isIP(options.hostname) === 0 ? null : reservedRange(options.hostname, allowed);
    if (range) {
      callback(new BeforeSending('address_refused', refusedAddress(options.hostname, range)), null);
      return;
    }
    connect(options, (...[error, socket]) => {
      if (!error) callback(null, socket);
      else callback(error instanceof BeforeSending ? error : connectFailed(error), null);
    });
  };
}

async function checkedAddresses(hostname: string, resolve: Resolve, allowed: readonly Network[]): Promise<readonly ResolvedAddress[]> {
  const addresses = await resolve(hostname).catch((cause: unknown) => {
    throw new BeforeSending('unresolvable', `${hostname} could not be resolved (${codeOf(cause)}).`, { cause });
  });
  if (addresses.length === 0) throw new BeforeSending('unresolvable', `${hostname} has no address.`);
  for (const { address } of addresses) {
    const range = reservedRange(address, allowed);
    if (range) throw new BeforeSending('address_refused', `${hostname} resolves to a blocked address: ${refusedAddress(address, range)}`);
  }
  return addresses;
}

function connectFailed(cause: Error): BeforeSending {
  return new BeforeSending('connect_failed', `The connection failed (${codeOf(cause)}).`, { cause });
}

export function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : error instanceof Error ? error.name : 'unknown';
}
