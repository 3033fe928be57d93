import { readable } from '../../review/difference/payload-difference.js';
import { AddressLink } from '../AddressLink.js';
import type { FieldView } from '../field-view.js';
import { HostNote } from '../HostNote.js';
import { LineInput } from '../text-input.js';

export const url: FieldView = {
  Show: ({ value }) => (
    <p className="value">
      <AddressLink address={String(value)} />
    </p>
  ),
  Edit: (props) => (
    <>
      <LineInput {...props} inputMode="url" spellCheck={false} />
      <HostNote address={props.text ?? readable(props.value)} />
    </>
  ),
};
