import { type Dispatch, useEffect, useId, useRef, useState } from 'react';
import { Dialog } from '../../../elements/Dialog.js';
import { Revealed } from '../../../elements/Revealed.js';
import { useSettling } from '../../../elements/settling.js';
import { approves, effectInWords } from '../../../review/action-effect.js';
import { type Desk, type DeskEvent, LONGEST_FEEDBACK, labelOf } from '../../../review/desk.js';
import { asksWhy, type Intent } from '../../../review/intent.js';
import { summaryOf, templateNameOf } from '../../../review/summary.js';

interface ConfirmProps {
  intent: Intent;
  desk: Desk;
  change: Dispatch<DeskEvent>;
  onConfirm: () => void;
  onCancel: () => void;
}

/** Asks once more, naming what would happen to what was shown when it was begun. What cannot be undone has to be chosen; the rest is one more Enter. */
export function ConfirmDialog({ intent, desk, change, onConfirm, onCancel }: ConfirmProps) {
  const { action, review: shown, body } = intent;
  const irreversible = approves(action) && shown.irreversibility === 'irreversible';
  const why = asksWhy(intent);
  const sent = Object.keys(body.edited_payload ?? {});
  const edits = sent.length > 0 ? sent : Object.keys(desk.edits);
  const effect = effectInWords(action);
  const reason = useRef<HTMLTextAreaElement>(null);
  const confirm = useRef<HTMLButtonElement>(null);
  const cancel = useRef<HTMLButtonElement>(null);
  // The press that opened the dialog may be the first of two.
  const { guard } = useSettling(action.id);
  const [missing, setMissing] = useState(false);
  useEffect(() => {
    (why ? reason : irreversible ? cancel : confirm).current?.focus();
  }, [why, irreversible]);

  function confirmed() {
    if (!why || desk.feedback.trim() !== '') return onConfirm();
    setMissing(true);
    reason.current?.focus();
  }
  return (
    <Dialog title={irreversible ? `${action.label}? This cannot be undone.` : `${action.label}?`} onClose={onCancel}>
      <What intent={intent} />
      {irreversible ? <p className="confirm-irreversible">Once the agent has acted on your approval, it cannot be undone.</p> : null}
      {edits.length > 0 ? (
        <p>
          {sent.length === 0
            ? 'Your edits are not sent: '
            : approves(action)
              ? 'With your edits to: '
              : 'Your edits are sent as a suggestion: '}
          {edits.map((name) => labelOf(shown, name)).join(', ')}.
        </p>
      ) : null}
      {body.feedback === undefined ? null : (
        <blockquote className="quote">
          <Revealed text={body.feedback} />
        </blockquote>
      )}
      {why ? (
        <Reason
          ref={reason}
          label={action.label}
          value={desk.feedback}
          missing={missing && desk.feedback.trim() === ''}
          onChange={(text) => change({ type: 'feedback', text })}
        />
      ) : null}
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
      <div className="dialog-actions" {...guard}>
        <button type="button" className="button" ref={cancel} onClick={onCancel}>
          Cancel
        </button>
        <button
          type="button"
          ref={confirm}
          className={`button ${irreversible || action.decision_value === 'rejected' ? 'button-danger-solid' : 'button-primary'}`}
          onClick={confirmed}
        >
          <Revealed text={irreversible ? `${action.label} permanently` : action.label} />
          {effect === null ? null : ` (${effect.toLowerCase()})`}
        </button>
      </div>
    </Dialog>
  );
}

/** What it is about, by its first values: as they would be approved, where they would. */
function What({ intent: { action, review, body } }: { intent: Intent }) {
  const payload = approves(action) ? { ...review.payload, ...body.edited_payload } : review.payload;
  const { title, detail } = summaryOf({ ...review, payload });
  return (
    <div className="confirm-what">
      <span className="muted">
        <Revealed text={templateNameOf(review)} />
      </span>
      <strong>
        <Revealed text={title} />
      </strong>
      {detail === '' ? null : (
        <span className="confirm-detail">
          <Revealed text={detail} />
        </span>
      )}
      {review.current_version > 1 ? <span className="muted">Version {review.current_version}</span> : null}
    </div>
  );
}

interface ReasonProps {
  label: string;
  value: string;
  missing: boolean;
  onChange: (text: string) => void;
  ref: React.Ref<HTMLTextAreaElement>;
}

/** The feedback the template's own action would have required. */
function Reason({ label, value, missing, onChange, ref }: ReasonProps) {
  const id = useId();
  return (
    <div className="feedback">
      <label className="field-label" htmlFor={id}>
        Reason
      </label>
      <textarea
        id={id}
        ref={ref}
        className="input input-text"
        rows={3}
        maxLength={LONGEST_FEEDBACK}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        aria-describedby={`${id}-note`}
        aria-invalid={missing || undefined}
        aria-required
      />
      <p id={`${id}-note`} className={`field-note ${missing ? 'danger-text' : 'muted'}`} role={missing ? 'alert' : undefined}>
        {missing ? `Enter the reason first; the agent receives it with “${label}”.` : 'The agent receives it.'}
      </p>
    </div>
  );
}
