import type { TemplateField } from '@countersign/contracts';
import { useId } from 'react';
import { Badge } from '../elements/Badge.js';
import { Difference } from '../elements/Difference.js';
import { Guarded } from '../elements/Guarded.js';
import { Lookalikes, Revealed } from '../elements/Revealed.js';
import type { Edit } from '../review/difference/edits.js';
import { readable } from '../review/difference/payload-difference.js';
import { textDifference } from '../review/difference/text-difference.js';
import { FIELD_VIEWS } from './field-views.js';
import { JsonTree } from './JsonTree.js';

export interface FieldProps {
  field: TemplateField;
  /** What the agent sent. */
  sent: unknown;
  /** What a person made of it, where they did. */
  edit: Edit | undefined;
  /** The field can be edited now; without it the value is only shown. */
  onEdit?: (edit: Edit) => void;
  onRevert?: () => void;
  disabled?: boolean;
}

/** One field of a review: its label, its value or its editor, and what was changed. */
export function Field({ field, sent, edit, onEdit, onRevert, disabled = false }: FieldProps) {
  const id = useId();
  const view = FIELD_VIEWS[field.type];
  const value = edit === undefined ? sent : edit.value;
  const notes = [...(edit?.problem === undefined ? [] : [`${id}-problem`])];
  const labelled = onEdit !== undefined && !view.group;
  const label = <FieldLabel id={id} text={field.label} labelled={labelled} />;
  return (
    <div className={`field ${edit ? 'field-edited' : ''}`} data-field={field.name}>
      <header className="field-head">
        {label}
        {edit ? <Badge tone="accent">Edited</Badge> : null}
        {edit && onRevert ? (
          <button type="button" className="button-text" onClick={onRevert} aria-label={`Revert ${field.label}`}>
            Revert
          </button>
        ) : null}
      </header>
      <Guarded otherwise={() => <JsonTree value={value ?? null} label={field.label} />}>
        {onEdit ? (
          <view.Edit
            field={field}
            value={value}
            text={edit?.text}
            onChange={onEdit}
            id={id}
            describedBy={notes.length > 0 ? notes.join(' ') : undefined}
            invalid={edit?.problem !== undefined}
            disabled={disabled}
          />
        ) : value === undefined || value === null ? (
          <p className="value value-none">{value === undefined ? 'Not sent' : 'Empty'}</p>
        ) : (
          <view.Show field={field} value={value} />
        )}
      </Guarded>
      {view.bytes ? null : <Lookalikes text={readable(value)} />}
      {edit?.problem ? (
        <p className="field-note danger-text" id={`${id}-problem`}>
          {edit.problem}
        </p>
      ) : null}
      {edit && edit.problem === undefined ? <WasAndIs sent={sent} value={edit.value} /> : null}
    </div>
  );
}

function FieldLabel({ id, text, labelled }: { id: string; text: string; labelled: boolean }) {
  const words = <Revealed text={text} />;
  return (
    <h3 id={`${id}-label`} className="field-label">
      {labelled ? <label htmlFor={id}>{words}</label> : words}
    </h3>
  );
}

function WasAndIs({ sent, value }: { sent: unknown; value: unknown }) {
  return (
    <details className="was-and-is">
      <summary>What changed</summary>
      <Difference pieces={textDifference(readable(sent), readable(value))} />
    </details>
  );
}
