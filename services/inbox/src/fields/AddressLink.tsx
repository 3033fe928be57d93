import { Revealed } from '../elements/Revealed.js';
import { safeLink } from './addresses.js';

/** An address as it was written, leading where it says; the host as the browser reads it, where that looks different. */
export function AddressLink({ address }: { address: string }) {
  const href = safeLink(address);
  if (href === null) return <Revealed text={address} />;
  const host = URL.parse(href)?.host ?? '';
  const plain = address.toLowerCase().includes(host);
  return (
    <span className="address">
      <a href={href} target="_blank" rel="noopener noreferrer nofollow">
        <Revealed text={address} />
      </a>
      {host !== '' && !plain ? <span className="field-note warning-text">leads to {host}</span> : null}
    </span>
  );
}
