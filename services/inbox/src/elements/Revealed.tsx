import { HIDDEN_CHARACTER, runsOf } from '../review/oddities/invisible.js';
import { lookalikesOf } from '../review/oddities/lookalikes.js';

/** A text as it is, with its hidden characters named. */
export function Revealed({ text }: { text: string }) {
  const runs = runsOf(text);
  if (runs.every((run) => 'text' in run)) return text;
  return runs.map((run, index) =>
    'text' in run ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: the runs of one text never move
      <span key={index}>{run.text}</span>
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: the runs of one text never move
      <span key={index} className="hidden-character" title={HIDDEN_CHARACTER}>
        {run.hidden}
      </span>
    ),
  );
}

/** For editors, which cannot show them: which hidden characters a text has. */
export function HiddenCharacters({ text }: { text: string }) {
  const hidden = [...new Set(runsOf(text).flatMap((run) => ('hidden' in run ? [run.hidden] : [])))];
  if (hidden.length === 0) return null;
  return <p className="field-note warning-text">Contains invisible characters: {hidden.join(', ')}</p>;
}

/** Which words of a text may be read as others. */
export function Lookalikes({ text }: { text: string }) {
  const told = lookalikesOf(text);
  if (told.length === 0) return null;
  return <p className="field-note warning-text">{told.join('. ')}.</p>;
}
