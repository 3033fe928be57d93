import { AddressLink } from './AddressLink.js';
import type { FieldView } from './field-view.js';
import { LineInput } from './text-input.js';

export const url: FieldView = {
  Show: ({ value }) => (
    <p className="value">
      <AddressLink address={String(value)} />
    </p>
  ),
  Edit: (props) => <LineInput {...props} inputMode="url" spellCheck={false} />,
};
