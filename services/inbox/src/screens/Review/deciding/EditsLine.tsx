import type { Dispatch } from 'react';
import { Revealed } from '../../../elements/Revealed.js';
import { fateOfEdits } from '../../../review/action-effect.js';
import { clockTimeOf } from '../../../review/deadline.js';
import { type Desk, type DeskEvent, labelOf } from '../../../review/desk.js';
import type { DraftState } from './use-draft.js';

const DRAFT: Record<'saving' | 'kept_here', string> = { saving: 'Saving draft…', kept_here: 'Draft saved in this tab only' };

/** What the person changed so far, whether the server has it, and what becomes of it. */
export function EditsLine({ desk, change, draft }: { desk: Desk; change: Dispatch<DeskEvent>; draft: DraftState }) {
  const names = Object.keys(desk.edits);
  const editable = desk.shown.template_fields.some((field) => field.editable);
  if (names.length === 0 && draft.kind === 'none') {
    return editable ? <p className="muted panel-line">You can edit the outlined fields before you approve.</p> : null;
  }
  return (
    <div className="panel-line">
      <span>{names.length === 0 ? 'No edits' : `Edited: ${names.map((name) => labelOf(desk.shown, name)).join(', ')}`}</span>
      {names.length > 0 ? (
        <button
          type="button"
          className="button-text"
          onClick={() => {
            for (const field of names) change({ type: 'reverted', field });
          }}
        >
          Revert all
        </button>
      ) : null}
      {names.length > 0 ? (
        <span className="edits-fate muted">
          <Revealed text={fateOfEdits(desk.shown.available_actions)} />
        </span>
      ) : null}
      <span className="draft-state muted" role="status">
        {draft.kind === 'saved' ? `Draft saved ${clockTimeOf(draft.at)}` : draft.kind === 'none' ? null : DRAFT[draft.kind]}
      </span>
    </div>
  );
}
