import { Revealed } from '../../elements/Revealed.js';
import { chosen } from '../../review/difference/edits.js';
import { runsOf } from '../../review/oddities/invisible.js';
import type { FieldView } from '../field-view.js';

/** Longer options may be cut at the edge of the control. */
const FITS = 30;

/** The chosen option as it is, where the control cannot show it so. */
function Whole({ option }: { option: string }) {
  if (option.length <= FITS && runsOf(option).every((run) => 'text' in run)) return null;
  return (
    <p className="field-note">
      <Revealed text={option} />
    </p>
  );
}

export const select: FieldView = {
  Show: ({ value }) => (
    <p className="value">
      <Revealed text={String(value)} />
    </p>
  ),
  Edit: ({ field, value, onChange, id, describedBy, invalid, disabled }) => (
    <>
      <select
        id={id}
        className="input input-select"
        value={typeof value === 'string' ? value : ''}
        onChange={(event) => onChange(chosen(event.target.value === '' ? null : event.target.value))}
        aria-describedby={describedBy}
        aria-invalid={invalid || undefined}
        disabled={disabled}
      >
        {field.required && typeof value === 'string' ? null : <option value="">Not set</option>}
        {(field.options ?? []).map((option) => (
          <option key={option} value={option}>
            {option}
          </option>
        ))}
      </select>
      {typeof value === 'string' ? <Whole option={value} /> : null}
    </>
  ),
};
