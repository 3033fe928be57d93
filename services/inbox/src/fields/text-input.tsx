import { HiddenCharacters } from '../elements/Revealed.js';
import { typed } from '../review/difference/edits.js';
import { readable } from '../review/difference/payload-difference.js';
import type { EditProps } from './field-view.js';

type Extra = { inputMode?: 'decimal' | 'url'; className?: string; rows?: number; spellCheck?: boolean; placeholder?: string };

/** Characters to a line, for browsers that do not size an editor by what is in it. */
const LINE = 60;

/** A text that grows with what is in it. */
export function TextInput({ field, value, text, onChange, id, describedBy, invalid, disabled, ...extra }: EditProps & Extra) {
  const shown = text ?? readable(value);
  const lines = shown.split('\n').reduce((sum, line) => sum + Math.ceil((line.length + 1) / LINE), 0);
  const { rows = 1, className = '', ...rest } = extra;
  return (
    <>
      <textarea
        id={id}
        className={`input input-text ${className}`}
        value={shown}
        rows={Math.max(rows, lines)}
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

/** A text of one line, which wraps rather than being cut at the edge. */
export function LineInput({ onChange, field, className = '', ...rest }: EditProps & Extra) {
  return (
    <TextInput
      {...rest}
      field={field}
      className={`input-line ${className}`}
      onChange={({ text = '' }) => onChange(typed(field, text.replace(/[\r\n]+/g, '')))}
    />
  );
}
