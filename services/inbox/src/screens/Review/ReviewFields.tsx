import type { TemplateField } from '@countersign/contracts';
import type { Dispatch } from 'react';
import { Lookalikes, Revealed } from '../../elements/Revealed.js';
import { Field } from '../../fields/Field.js';
import { JsonTree } from '../../fields/JsonTree.js';
import { type Desk, type DeskEvent, isOpen } from '../../review/desk.js';
import { changes, type Edit, valueAt } from '../../review/difference/edits.js';
import { readable } from '../../review/difference/payload-difference.js';
import { oddities } from '../../review/oddities/odd-keys.js';
import { undeclaredKeys } from '../../review/summary.js';

interface FieldsProps {
  desk: Desk;
  change: Dispatch<DeskEvent>;
  editable: boolean;
  disabled: boolean;
}

/** The payload by the fields its template declares, and apart from them what the agent sent besides (decision 8). */
export function ReviewFields({ desk, change, editable, disabled }: FieldsProps) {
  const { shown } = desk;
  return (
    <section className="fields" aria-labelledby="fields-title">
      <h2 id="fields-title" className="visually-hidden">
        Request details
      </h2>
      {shown.template_fields.map((field) => {
        const edit = editOf(desk, field);
        const { name } = field;
        const editors =
          editable && field.editable
            ? {
                onEdit: (made: Edit) => change({ type: 'typed', field: name, edit: made }),
                onRevert: () => change({ type: 'reverted', field: name }),
              }
            : {};
        return <Field key={name} field={field} sent={valueAt(shown.payload, name)} edit={edit} disabled={disabled} {...editors} />;
      })}
      <Undeclared desk={desk} />
    </section>
  );
}

/** While it is open what the person made of the field; afterwards what was approved instead of what was sent. */
function editOf(desk: Desk, { name }: TemplateField): Edit | undefined {
  const { shown, edits } = desk;
  if (isOpen(shown)) return edits[name];
  if (shown.approved_value === null) return undefined;
  const approved: Edit = { value: valueAt(shown.approved_value, name) };
  return changes(shown.payload, name, approved) ? approved : undefined;
}

function Undeclared({ desk: { shown } }: { desk: Desk }) {
  const keys = undeclaredKeys(shown);
  const beside = [...shown.template_fields.map(({ name }) => name), ...keys];
  if (keys.length === 0) return null;
  return (
    <section className="undeclared" aria-labelledby="undeclared-title">
      <h3 id="undeclared-title" className="section-title">
        Additional values
      </h3>
      <p className="muted">
        The template does not describe {keys.length === 1 ? 'this value' : 'these values'}. {keys.length === 1 ? 'It' : 'They'} cannot be
        edited, and {keys.length === 1 ? 'is' : 'are'} part of what you approve.
      </p>
      <dl className="undeclared-list">
        {keys.map((key) => (
          <div key={key} className="undeclared-item">
            <dt>
              <code className="undeclared-key">
                <Revealed text={JSON.stringify(key)} />
              </code>
              <KeyNote told={oddities(key, beside)} />
            </dt>
            <dd>
              <JsonTree value={shown.payload[key]} label={key} />
              <Lookalikes text={readable(shown.payload[key])} />
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

/** What somebody would not see of a key. */
function KeyNote({ told }: { told: string[] }) {
  return told.length === 0 ? null : <span className="field-note warning-text undeclared-note">{told.join('. ')}.</span>;
}
