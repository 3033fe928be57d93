import { useEffect, useRef } from 'react';
import { Dialog } from '../../elements/Dialog.js';
import { Revealed } from '../../elements/Revealed.js';
import { approves, effectInWords } from '../../review/action-effect.js';
import { labelOf } from '../../review/desk.js';
import type { Intent } from '../../review/intent.js';
import { summaryOf, templateNameOf } from '../../review/summary.js';

interface ConfirmProps {
  intent: Intent;
  onConfirm: () => void;
  onCancel: () => void;
}

/** Asks once more, naming what would happen to what was shown when it was begun. What cannot be undone has to be chosen; the rest is one more Enter. */
export function ConfirmDialog({ intent, onConfirm, onCancel }: ConfirmProps) {
  const { action, review: shown, body } = intent;
  const irreversible = approves(action) && shown.irreversibility === 'irreversible';
  const edits = Object.keys(body.edited_payload ?? {});
  const effect = effectInWords(action);
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
      {body.feedback === undefined ? null : (
        <blockquote className="quote">
          <Revealed text={body.feedback} />
        </blockquote>
      )}
      {effect === null ? null : (
        <p>
          <strong>{effect}.</strong> The template calls this action “<Revealed text={action.label} />
          ”.
        </p>
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
          <Revealed text={irreversible ? `${action.label} permanently` : action.label} />
          {effect === null ? null : ` (${effect.toLowerCase()})`}
        </button>
      </div>
    </Dialog>
  );
}
