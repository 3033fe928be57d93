import { remoteHost } from '../elements/AskedFor.js';
import { AddressLink } from './AddressLink.js';
import { sizeOf } from './addresses.js';

/** What is approved of a picture or a video: its bytes where they came along, else no more than its address. */
export function MediumCaption({ source }: { source: string }) {
  if (source.startsWith('data:')) return <figcaption>{sizeOf(source)}</figcaption>;
  return (
    <figcaption>
      <AddressLink address={source} />
      {remoteHost(source) === null ? null : (
        <p className="field-note muted">Only the address is approved. What is at it can change at any time.</p>
      )}
    </figcaption>
  );
}
