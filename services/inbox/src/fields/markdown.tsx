import { lazy, Suspense, useId, useState } from 'react';
import { Progress } from '../elements/Progress.js';
import { Revealed } from '../elements/Revealed.js';
import { readable } from '../review/payload-difference.js';
import type { EditProps, FieldView, ShowProps } from './field-view.js';
import { TextInput } from './text-input.js';

/** Only reviews with such a field load what draws it. */
const DrawnMarkdown = lazy(() => import('./DrawnMarkdown.js').then((module) => ({ default: module.DrawnMarkdown })));

function Drawn({ text }: { text: string }) {
  return (
    <Suspense fallback={<Progress label="Drawing the text…" />}>
      <DrawnMarkdown text={text} />
    </Suspense>
  );
}

function Tabs({ tabs, chosen, onChoose }: { tabs: readonly string[]; chosen: string; onChoose: (tab: string) => void }) {
  const name = useId();
  return (
    <fieldset className="switch">
      <legend className="visually-hidden">How to show the text</legend>
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
      {tab === 'Formatted' ? (
        <Drawn text={source} />
      ) : (
        <pre className="value value-source">
          <Revealed text={source} />
        </pre>
      )}
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
