import { useEffect, useRef } from 'react';
import { Revealed } from '../../elements/Revealed.js';
import { typed } from '../../review/difference/edits.js';
import type { EditProps, FieldView } from '../field-view.js';
import { LineInput } from '../text-input.js';

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const LONG_DAY = new Intl.DateTimeFormat('en-GB', { weekday: 'short', day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' });
const LONG_TIME = new Intl.DateTimeFormat('en-GB', {
  weekday: 'short',
  day: 'numeric',
  month: 'long',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  timeZoneName: 'short',
});

function wordsOf(text: string): string | null {
  if (DAY.test(text)) return LONG_DAY.format(new Date(`${text}T00:00:00Z`));
  const time = Date.parse(text);
  return Number.isNaN(time) ? null : LONG_TIME.format(time);
}

export const date: FieldView = {
  Show: ({ value }) => {
    const text = String(value);
    const words = wordsOf(text);
    return (
      <p className="value">
        {words} {words === null ? <Revealed text={text} /> : <code className="value-raw">{text}</code>}
      </p>
    );
  },
  Edit: EditDate,
};

/** What the picker says of a day that is none (30 February), or of which a part is missing; its value is empty then. */
const NO_DAY = 'This date is incomplete or does not exist. Complete it, or revert it.';

function EditDate(props: EditProps) {
  const { field, value, onChange, id, describedBy, invalid, disabled } = props;
  const shown = props.text ?? (typeof value === 'string' ? value : '');
  const wasBad = useRef(false);
  const input = useRef<HTMLInputElement>(null);
  // A revert to an empty date is no change of the value, so what was half typed has to be taken away by hand.
  useEffect(() => {
    if (!invalid && input.current?.validity.badInput) input.current.value = '';
  }, [invalid]);

  /** Keys that leave the value empty cause no event of its own, so the picker is also asked after each key and when it is left. */
  const judge = ({ currentTarget }: { currentTarget: HTMLInputElement }) => {
    const { badInput } = currentTarget.validity;
    if (badInput) onChange({ text: '', value: null, problem: NO_DAY });
    else if (wasBad.current) onChange(typed(field, currentTarget.value));
    wasBad.current = badInput;
  };
  return (
    <>
      {/* A time of day needs its offset, which the browser's own picker does not know. */}
      {shown !== '' && !DAY.test(shown) ? (
        <LineInput {...props} spellCheck={false} />
      ) : (
        <input
          id={id}
          ref={input}
          type="date"
          className="input input-date"
          value={shown}
          onChange={(event) => {
            if (!event.currentTarget.validity.badInput) onChange(typed(field, event.currentTarget.value));
            judge(event);
          }}
          onKeyUp={judge}
          onBlur={judge}
          aria-describedby={describedBy}
          aria-invalid={invalid || undefined}
          disabled={disabled}
        />
      )}
      {invalid ? null : <InWords text={shown} />}
    </>
  );
}

/** The picker writes days as its own country does, in which 12/04 may be December or April. */
function InWords({ text }: { text: string }) {
  const words = text === '' ? null : wordsOf(text);
  return words === null ? null : <p className="field-note muted">{words}</p>;
}
