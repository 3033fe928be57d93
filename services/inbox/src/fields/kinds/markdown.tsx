import { Suspense, useId, useState } from 'react';
import { Guarded } from '../../elements/Guarded.js';
import { Progress } from '../../elements/Progress.js';
import { Revealed } from '../../elements/Revealed.js';
import { whyUndrawn } from '../../markdown/drawable.js';
import { drawing, drawingAnew, NotFetched } from '../../markdown/fetched-drawing.js';
import { readable } from '../../review/difference/payload-difference.js';
import type { EditProps, FieldView, ShowProps } from '../field-view.js';
import { TextInput } from '../text-input.js';

function Source({ text }: { text: string }) {
  return (
    <pre className="value value-source">
      <Revealed text={text} />
    </pre>
  );
}

/** The source of a text that is not drawn, and why it is not. */
function Undrawn({ text, why }: { text: string; why: string }) {
  return (
    <>
      <p className="field-note warning-text">{why} This is its source.</p>
      <Source text={text} />
    </>
  );
}

/** Some browsers remember that a module was not to be had until the page is loaded again. */
function Unfetched({ text, attempt, onAgain }: { text: string; attempt: number; onAgain: () => void }) {
  return (
    <>
      <p className="field-note warning-text">
        What renders this text could not be loaded. This is its source.{' '}
        <button type="button" className="button-text" onClick={onAgain}>
          Try again
        </button>
        {attempt > 1 ? ' or reload the page; your input is kept.' : null}
      </p>
      <Source text={text} />
    </>
  );
}

function Drawn({ text }: { text: string }) {
  const [{ attempt, DrawnMarkdown }, setTried] = useState(() => ({ attempt: 1, DrawnMarkdown: drawing() }));
  const why = whyUndrawn(text);
  if (why !== null) return <Undrawn text={text} why={why} />;
  const again = () => setTried({ attempt: attempt + 1, DrawnMarkdown: drawingAnew() });
  return (
    <Guarded
      key={`${attempt} ${text}`}
      otherwise={(error) =>
        error instanceof NotFetched ? (
          <Unfetched text={text} attempt={attempt} onAgain={again} />
        ) : (
          <Undrawn text={text} why="This text cannot be rendered." />
        )
      }
    >
      <Suspense fallback={<Progress label="Rendering…" />}>
        <DrawnMarkdown text={text} />
      </Suspense>
    </Guarded>
  );
}

function Tabs({ tabs, chosen, onChoose }: { tabs: readonly string[]; chosen: string; onChoose: (tab: string) => void }) {
  const name = useId();
  return (
    <fieldset className="switch">
      <legend className="visually-hidden">Text view</legend>
      {tabs.map((tab) => (
        <label key={tab} className="switch-option">
          <input type="radio" name={name} checked={tab === chosen} onChange={() => onChoose(tab)} />
          <span>{tab}</span>
        </label>
      ))}
    </fieldset>
  );
}

/** What is approved is the source, so it can always be read. */
function ShowMarkdown({ value }: ShowProps) {
  const [tab, setTab] = useState('Formatted');
  const source = String(value);
  return (
    <div className="markdown-field">
      <Tabs tabs={['Formatted', 'Source']} chosen={tab} onChoose={setTab} />
      {tab === 'Formatted' ? <Drawn text={source} /> : <Source text={source} />}
    </div>
  );
}

function EditMarkdown(props: EditProps) {
  const [tab, setTab] = useState('Formatted');
  return (
    <div className="markdown-field">
      <Tabs tabs={['Formatted', 'Edit']} chosen={tab} onChoose={setTab} />
      {tab === 'Formatted' ? (
        <Drawn text={props.text ?? readable(props.value)} />
      ) : (
        <TextInput {...props} className="input-source" rows={6} />
      )}
    </div>
  );
}

export const markdown: FieldView = { Show: ShowMarkdown, Edit: EditMarkdown };
