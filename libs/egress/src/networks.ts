import ipaddr from 'ipaddr.js';

/** A network in CIDR form, parsed once. */
export type Network = readonly [ipaddr.IPv4 | ipaddr.IPv6, number];

/** IPv4 ranges that are not the public internet (IANA special-purpose registry), with the word an operator reads in the delivery log. */
const RESERVED_V4: readonly (readonly [string, string])[] = [
  ['0.0.0.0/8', 'this network'],
  ['10.0.0.0/8', 'private'],
  ['100.64.0.0/10', 'carrier-grade NAT'],
  ['127.0.0.0/8', 'loopback'],
  ['169.254.0.0/16', 'link-local'],
  ['172.16.0.0/12', 'private'],
  ['192.0.0.0/24', 'IETF protocol assignments'],
  ['192.0.2.0/24', 'documentation'],
  ['192.88.99.0/24', '6to4 relay'],
  ['192.168.0.0/16', 'private'],
  ['198.18.0.0/15', 'benchmarking'],
  ['198.51.100.0/24', 'documentation'],
  ['203.0.113.0/24', 'documentation'],
  ['224.0.0.0/4', 'multicast'],
  ['240.0.0.0/4', 'reserved'],
];

/** IPv6 turned round: only global unicast is public, and these parts of it are not. */
const PUBLIC_V6 = '2000::/3';
const RESERVED_V6: readonly (readonly [string, string])[] = [
  ['::/128', 'unspecified'],
  ['::1/128', 'loopback'],
  ['64:ff9b::/96', 'NAT64'],
  ['64:ff9b:1::/48', 'NAT64'],
  ['fe80::/10', 'link-local'],
  ['fc00::/7', 'private'],
  ['ff00::/8', 'multicast'],
  ['2001::/32', 'Teredo'],
  ['2001::/23', 'IETF protocol assignments'],
  ['2001:db8::/32', 'documentation'],
  ['2002::/16', '6to4'],
  ['3fff::/20', 'documentation'],
];

const PUBLIC = parseNetwork(PUBLIC_V6);
const RESERVED = [...RESERVED_V4, ...RESERVED_V6].map(([cidr, word]) => ({ network: parseNetwork(cidr), word }));

/** @throws {Error} when the text is not an address or a CIDR network. */
export function parseNetwork(text: string): Network {
  if (ipaddr.isValidCIDR(text)) return ipaddr.parseCIDR(text);
  if (ipaddr.isValid(text)) {
    const address = ipaddr.parse(text);
    return [address, address.kind() === 'ipv4' ? 32 : 128];
  }
  throw new Error(`${JSON.stringify(text)} is not a valid network. Use an IP address or CIDR range, such as 127.0.0.0/8 or fc00::/7.`);
}

/**
 * Why a connection to an address is refused, or null when it may be made. An IPv6 form of an IPv4 address is judged as the IPv4 address.
 * @param allowed networks the operator listed; they win over every range.
 */
export function reservedRange(address: string, allowed: readonly Network[]): string | null {
  if (!ipaddr.isValid(address)) return 'not an address';
  const parsed = ipaddr.process(address);
  if (allowed.some((network) => contains(network, parsed))) return null;
  const reserved = RESERVED.find(({ network }) => contains(network, parsed));
  if (reserved) return reserved.word;
  return parsed.kind() === 'ipv4' || contains(PUBLIC, parsed) ? null : 'reserved';
}

function contains(network: Network, address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  const [base, bits] = network;
  return base.kind() === address.kind() && (address as ipaddr.IPv6).match(base as ipaddr.IPv6, bits);
}
