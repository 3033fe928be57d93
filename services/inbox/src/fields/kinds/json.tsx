import { useState } from 'react';
import { equalJson } from '../../review/difference/equal-json.js';
import { readTyped } from '../../review/difference/typed-values.js';
import type { EditProps, FieldView, ShowProps } from '../field-view.js';
import { JsonTree } from '../JsonTree.js';
import { TextInput } from '../text-input.js';

function ShowJson({ value, field }: ShowProps) {
  return <JsonTree value={value} label={field.label} />;
}

/** Its text, always as JSON: a string has its quotes. */
function sourceOf(value: unknown): string {
  return value === undefined || value === null ? '' : JSON.stringify(value, null, 2);
}

function EditJson(props: EditProps) {
  // The text of this sitting: what was saved as a value comes back as one.
  const [source, setSource] = useState(() => props.text ?? sourceOf(props.value));
  const read = readTyped(props.field, source);
  // Only as long as it says what is approved: a value that was put back is shown as it is.
  const kept = read.problem === undefined && equalJson(read.value, props.value);
  const shown = props.text ?? (kept ? source : sourceOf(props.value));
  return (
    <TextInput
      {...props}
      text={shown}
      className="input-source"
      rows={3}
      spellCheck={false}
      onChange={(edit) => {
        setSource(edit.text ?? '');
        props.onChange(edit);
      }}
    />
  );
}

export const json: FieldView = { Show: ShowJson, Edit: EditJson };
