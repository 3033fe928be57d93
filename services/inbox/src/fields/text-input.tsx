import { HiddenCharacters } from '../elements/Revealed.js';
import { typed } from '../review/edits.js';
import { readable } from '../review/payload-difference.js';
import type { EditProps } from './field-view.js';

type Extra = { inputMode?: 'decimal' | 'url'; className?: string; rows?: number; spellCheck?: boolean; placeholder?: string };

/** A text that grows with what is in it. */
export function TextInput({ field, value, text, onChange, id, describedBy, invalid, disabled, ...extra }: EditProps & Extra) {
  const shown = text ?? readable(value);
  const lines = shown.split('\n').length;
  const { rows = 1, className = '', ...rest } = extra;
  return (
    <>
      <textarea
        id={id}
        className={`input input-text ${className}`}
        value={shown}
        rows={Math.min(24, Math.max(rows, lines))}
        onChange={(event) => onChange(typed(field, event.target.value))}
        aria-describedby={describedBy}
        aria-invalid={invalid || undefined}
        aria-required={field.required || undefined}
        disabled={disabled}
        autoComplete="off"
        {...rest}
      />
      <HiddenCharacters text={shown} />
    </>
  );
}

/** A text of one line. */
export function LineInput({ field, value, text, onChange, id, describedBy, invalid, disabled, ...extra }: EditProps & Extra) {
  const { className = '', rows: _rows, ...rest } = extra;
  const shown = text ?? readable(value);
  return (
    <>
      <input
        id={id}
        type="text"
        className={`input ${className}`}
        value={shown}
        onChange={(event) => onChange(typed(field, event.target.value))}
        aria-describedby={describedBy}
        aria-invalid={invalid || undefined}
        aria-required={field.required || undefined}
        disabled={disabled}
        autoComplete="off"
        {...rest}
      />
      <HiddenCharacters text={shown} />
    </>
  );
}
