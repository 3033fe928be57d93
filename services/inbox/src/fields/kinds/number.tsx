import type { FieldView } from '../field-view.js';
import { LineInput } from '../text-input.js';

/** Digits as they are: no rounding, no separators that mean different things in different countries. */
export const number: FieldView = {
  Show: ({ value }) => <p className="value value-number">{String(value)}</p>,
  Edit: (props) => <LineInput {...props} inputMode="decimal" className="input-number" />,
};
