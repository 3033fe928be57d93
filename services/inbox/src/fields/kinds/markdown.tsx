import { lazy, Suspense, useId, useState } from 'react';
import { Guarded } from '../../elements/Guarded.js';
import { Progress } from '../../elements/Progress.js';
import { Revealed } from '../../elements/Revealed.js';
import { whyUndrawn } from '../../markdown/drawable.js';
import { readable } from '../../review/difference/payload-difference.js';
import type { EditProps, FieldView, ShowProps } from '../field-view.js';
import { TextInput } from '../text-input.js';

/** Only reviews with such a field load what draws it. */
const DrawnMarkdown = lazy(() => import('../../markdown/DrawnMarkdown.js').then((module) => ({ default: module.DrawnMarkdown })));

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

function Drawn({ text }: { text: string }) {
  const why = whyUndrawn(text);
  if (why !== null) return <Undrawn text={text} why={why} />;
  return (
    <Guarded key={text} otherwise={<Undrawn text={text} why="This text cannot be rendered." />}>
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
