import ipaddr from 'ipaddr.js';

/** Client addresses: allow-lists of keys, and the network an attempt comes from. IPv4 inside IPv6 counts as IPv4. */
type Address = ipaddr.IPv4 | ipaddr.IPv6;

function parse(address: string | null | undefined): Address | null {
  if (!address || !ipaddr.isValid(address)) return null;
  // `isValid` also takes `127.1` and `0x7f.1`; no peer address is written so.
  if (!address.includes(':') && !ipaddr.IPv4.isValidFourPartDecimal(address)) return null;
  return ipaddr.process(address);
}

/** An entry of an allow-list: an address or a CIDR, IPv4 or IPv6. null when it is neither. */
function parseRange(entry: string): [Address, number] | null {
  const [address, bits, ...rest] = entry.split('/');
  if (rest.length > 0 || address === undefined) return null;
  const parsed = parse(address);
  if (!parsed) return null;
  const width = parsed.kind() === 'ipv4' ? 32 : 128;
  if (bits === undefined) return [parsed, width];
  if (!/^\d{1,3}$/.test(bits)) return null;
  const mapped = address.includes(':') && parsed.kind() === 'ipv4';
  const length = Number(bits) - (mapped ? 96 : 0);
  return length >= 0 && length <= width ? [parsed, length] : null;
}

export const isAllowListEntry = (entry: string): boolean => parseRange(entry) !== null;

/** Fails closed: an address that is missing or cannot be read is in no list, and an entry that cannot be read lets nobody in. */
export function isAllowed(address: string | null | undefined, allowList: readonly string[]): boolean {
  const client = parse(address);
  if (!client) return false;
  return allowList.some((entry) => {
    const range = parseRange(entry);
    return range !== null && range[0].kind() === client.kind() && client.match(range);
  });
}

/** An IPv4 address, or the /64 an IPv6 subscriber has; `unknown` for what is no address, which then shares one count. */
export function networkOf(address: string | null | undefined): string {
  const parsed = parse(address);
  if (!parsed) return 'unknown';
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toString()}/64`).toString()}/64`;
}
