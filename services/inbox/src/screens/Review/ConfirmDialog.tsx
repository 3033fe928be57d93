import type { TemplateAction } from '@countersign/contracts';
import { useEffect, useRef } from 'react';
import { Dialog } from '../../elements/Dialog.js';
import { Revealed } from '../../elements/Revealed.js';
import { type Desk, labelOf } from '../../review/desk.js';
import { summaryOf, templateNameOf } from '../../review/summary.js';
import { approves, takesEdits } from './use-decision.js';

interface ConfirmProps {
  desk: Desk;
  action: TemplateAction;
  onConfirm: () => void;
  onCancel: () => void;
}

/** Asks once more, naming what would happen. What cannot be undone has to be chosen; the rest is one more Enter. */
export function ConfirmDialog({ desk, action, onConfirm, onCancel }: ConfirmProps) {
  const { shown } = desk;
  const irreversible = approves(action) && shown.irreversibility === 'irreversible';
  const edits = takesEdits(action) ? Object.keys(desk.edits) : [];
  const confirm = useRef<HTMLButtonElement>(null);
  const cancel = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    (irreversible ? cancel : confirm).current?.focus();
  }, [irreversible]);
  return (
    <Dialog title={irreversible ? `${action.label}? This cannot be undone.` : `${action.label}?`} onClose={onCancel}>
      <div className="confirm-what">
        <span className="muted">
          <Revealed text={templateNameOf(shown)} />
        </span>
        <strong>
          <Revealed text={summaryOf(shown).title} />
        </strong>
        {shown.current_version > 1 ? <span className="muted">Version {shown.current_version}</span> : null}
      </div>
      {irreversible ? (
        <p className="confirm-irreversible">
          <strong>Irreversible.</strong> Once the agent has acted on your approval, it cannot be reversed.
        </p>
      ) : null}
      {edits.length > 0 ? (
        <p>
          {approves(action) ? 'With your edits to: ' : 'Your edits are sent as a suggestion: '}
          {edits.map((name) => labelOf(shown, name)).join(', ')}.
        </p>
      ) : null}
      {desk.feedback.trim() === '' ? null : (
        <blockquote className="quote">
          <Revealed text={desk.feedback} />
        </blockquote>
      )}
      {action.description ? (
        <p className="muted">
          <Revealed text={action.description} />
        </p>
      ) : null}
      <div className="dialog-actions">
        <button type="button" className="button" ref={cancel} onClick={onCancel}>
          Cancel
        </button>
        <button
          type="button"
          ref={confirm}
          className={`button ${irreversible || action.decision_value === 'rejected' ? 'button-danger-solid' : 'button-primary'}`}
          onClick={onConfirm}
        >
          {irreversible ? `${action.label} permanently` : action.label}
        </button>
      </div>
    </Dialog>
  );
}
