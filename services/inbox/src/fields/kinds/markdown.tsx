import { useId, useState } from 'react';
import { Drawn, Source } from '../../markdown/Drawn.js';
import { readable } from '../../review/difference/payload-difference.js';
import type { EditProps, FieldView, ShowProps } from '../field-view.js';
import { TextInput } from '../text-input.js';

/** Level of the heading a field has. */
const FIELD_HEADING = 3;

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
      {tab === 'Formatted' ? <Drawn text={source} below={FIELD_HEADING} /> : <Source text={source} />}
    </div>
  );
}

function EditMarkdown(props: EditProps) {
  const [tab, setTab] = useState('Formatted');
  const text = props.text ?? readable(props.value);
  const formatted = text === '' ? <p className="value value-none">Empty</p> : <Drawn text={text} below={FIELD_HEADING} />;
  return (
    <div className="markdown-field">
      <Tabs tabs={['Formatted', 'Edit']} chosen={tab} onChoose={setTab} />
      {tab === 'Formatted' ? formatted : <TextInput {...props} className="input-source" rows={6} />}
    </div>
  );
}

export const markdown: FieldView = { Show: ShowMarkdown, Edit: EditMarkdown };
