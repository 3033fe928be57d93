import { Revealed } from '../../elements/Revealed.js';
import type { FieldView } from '../field-view.js';
import { TextInput } from '../text-input.js';

export const text: FieldView = {
  Show: ({ value }) => (
    <p className="value value-text">
      <Revealed text={String(value)} />
    </p>
  ),
  Edit: (props) => <TextInput {...props} />,
};
