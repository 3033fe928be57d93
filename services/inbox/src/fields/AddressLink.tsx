import { Revealed } from '../elements/Revealed.js';
import { safeLink } from './addresses.js';
import { HostNote } from './HostNote.js';

/** An address as it was written, leading where it says; the host as the browser reads it, where that looks different. */
export function AddressLink({ address }: { address: string }) {
  const href = safeLink(address);
  if (href === null) return <Revealed text={address} />;
  return (
    <span className="address">
      <a href={href} target="_blank" rel="noopener noreferrer nofollow">
        <Revealed text={address} />
      </a>
      <HostNote address={address} />
    </span>
  );
}
