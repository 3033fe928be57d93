import { Revealed } from '../elements/Revealed.js';
import { Choices } from './Choices.js';
import type { FieldView } from './field-view.js';
import { LineInput } from './text-input.js';

/** Without options the value is any text. */
export const buttons: FieldView = {
  Show: ({ value }) => (
    <p className="value">
      <Revealed text={String(value)} />
    </p>
  ),
  Edit: (props) =>
    props.field.options === undefined ? (
      <LineInput {...props} />
    ) : (
      <Choices
        {...props}
        options={[
          ...props.field.options.map((option): [string, unknown] => [option, option]),
          ...(props.field.required ? [] : ([['Not set', null]] as [string, unknown][])),
        ]}
      />
    ),
  group: true,
};
