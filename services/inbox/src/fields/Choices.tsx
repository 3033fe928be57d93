import { Revealed } from '../elements/Revealed.js';
import { chosen } from '../review/difference/edits.js';
import { equalJson } from '../review/difference/equal-json.js';
import type { EditProps } from './field-view.js';

/** A few values side by side, one of them chosen. */
export function Choices({
  field,
  value,
  onChange,
  id,
  describedBy,
  disabled,
  options,
}: EditProps & { options: [label: string, value: unknown][] }) {
  return (
    <div className="choices" role="radiogroup" aria-labelledby={`${id}-label`} aria-describedby={describedBy}>
      {options.map(([label, option]) => (
        <label key={label} className="choice">
          <input
            type="radio"
            name={`${id}-${field.name}`}
            checked={equalJson(value ?? null, option)}
            onChange={() => onChange(chosen(option))}
            disabled={disabled}
          />
          <span>
            <Revealed text={label} />
          </span>
        </label>
      ))}
    </div>
  );
}
