import { readable } from '../../review/difference/payload-difference.js';
import { AddressLink } from '../AddressLink.js';
import { safeLink } from '../addresses.js';
import type { FieldView } from '../field-view.js';
import { HostNote } from '../HostNote.js';
import { LineInput } from '../text-input.js';

/** What is edited is a text; this leads there. */
function Opened({ address }: { address: string }) {
  const href = safeLink(address);
  if (href === null) return null;
  return (
    <p className="field-note">
      <a href={href} target="_blank" rel="noopener noreferrer nofollow">
        Open {URL.parse(href)?.host}
      </a>
      <HostNote address={address} />
    </p>
  );
}

export const url: FieldView = {
  Show: ({ value }) => (
    <p className="value">
      <AddressLink address={String(value)} />
    </p>
  ),
  Edit: (props) => (
    <>
      <LineInput {...props} inputMode="url" spellCheck={false} />
      <Opened address={props.text ?? readable(props.value)} />
    </>
  ),
};
