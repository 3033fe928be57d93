import { Choices } from '../Choices.js';
import type { FieldView } from '../field-view.js';

export const boolean: FieldView = {
  Show: ({ value }) => <p className={`value value-boolean value-${value === true ? 'yes' : 'no'}`}>{value === true ? 'Yes' : 'No'}</p>,
  Edit: (props) => (
    <Choices
      {...props}
      options={[['Yes', true], ['No', false], ...(props.field.required ? [] : ([['Not set', null]] as [string, unknown][]))]}
    />
  ),
  group: true,
};
