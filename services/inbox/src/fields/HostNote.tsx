import { hostToName } from './addresses.js';

/** The host an address leads to, where the address reads otherwise. */
export function HostNote({ address }: { address: string }) {
  const host = hostToName(address);
  return host === null ? null : <span className="field-note warning-text"> leads to {host}</span>;
}
