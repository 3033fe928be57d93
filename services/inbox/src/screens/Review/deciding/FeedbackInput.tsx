import type { TemplateAction } from '@countersign/contracts';
import { type Dispatch, useEffect, useId, useRef } from 'react';
import { feedbackWanted } from '../../../review/action-effect.js';
import { type Desk, type DeskEvent, LONGEST_FEEDBACK } from '../../../review/desk.js';

interface FeedbackProps {
  desk: Desk;
  change: Dispatch<DeskEvent>;
  actions: readonly TemplateAction[];
  /** The action that was chosen and waits for its feedback. */
  armed: TemplateAction | undefined;
  off: boolean;
  onSend: (action: TemplateAction) => void;
}

export function FeedbackInput({ desk, change, actions, armed, off, onSend }: FeedbackProps) {
  const id = useId();
  const input = useRef<HTMLTextAreaElement>(null);
  const missing = armed !== undefined && desk.feedback.trim() === '';
  useEffect(() => {
    if (armed) input.current?.focus();
  }, [armed]);
  return (
    <div className="feedback">
      <label className="field-label" htmlFor={id}>
        Feedback to the agent
      </label>
      <textarea
        id={id}
        ref={input}
        className="input input-text"
        rows={3}
        maxLength={LONGEST_FEEDBACK}
        value={desk.feedback}
        onChange={(event) => change({ type: 'feedback', text: event.target.value })}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || !armed || off) return;
          event.preventDefault();
          onSend(armed);
        }}
        aria-describedby={`${id}-note`}
        aria-invalid={missing || undefined}
        aria-required={armed !== undefined || undefined}
      />
      <p id={`${id}-note`} className={`field-note ${missing ? 'danger-text' : 'muted'}`} role={armed ? 'alert' : undefined}>
        {noteOf(actions, armed, missing)}
      </p>
    </div>
  );
}

function noteOf(actions: readonly TemplateAction[], armed: TemplateAction | undefined, missing: boolean): string {
  if (armed)
    return missing
      ? `Enter feedback first; the agent receives it with “${armed.label}”.`
      : `Press Ctrl + Enter or “${armed.label}” to submit.`;
  return feedbackWanted(actions);
}
