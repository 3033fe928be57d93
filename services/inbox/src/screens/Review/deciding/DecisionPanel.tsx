import { type Dispatch, useEffect, useRef } from 'react';
import { isFocusLost } from '../../../elements/focus.js';
import { useKeys } from '../../../elements/keys.js';
import { useSettling } from '../../../elements/settling.js';
import { actionOfKey, inOrder } from '../../../review/action-order.js';
import { type Desk, type DeskEvent, isOpen } from '../../../review/desk.js';
import type { Holder } from '../../../review/holder.js';
import { whatWaits } from '../../../review/what-waits.js';
import { Awaited } from '../Awaited.js';
import { ActionBar } from './ActionBar.js';
import { ConfirmDialog } from './ConfirmDialog.js';
import { EditsLine } from './EditsLine.js';
import { FeedbackInput } from './FeedbackInput.js';
import { HoldLine } from './HoldLine.js';
import type { Decision } from './use-decision.js';
import type { DraftState } from './use-draft.js';

interface PanelProps {
  desk: Desk;
  change: Dispatch<DeskEvent>;
  reload: () => void;
  holder: Holder;
  draft: DraftState;
  decision: Decision;
}

/** Where the person decides: their edits, their feedback, and the actions of the review. */
export function DecisionPanel({ desk, change, reload, holder, draft, decision }: PanelProps) {
  const { shown, waiting } = desk;
  const pending = shown.status === 'pending';
  const news = waiting && whatWaits(shown, waiting);
  const actions = inOrder(shown.available_actions);
  const armed = actions.find((action) => action.id === desk.armed);
  const off = holder.kind === 'other' || waiting !== null || decision.busy !== null;
  const settling = useSettling(meaningOf(desk, off));
  const panel = useFocusAfterTurn(shown.status);
  const byKey = (key: string) => {
    const action = off ? undefined : actionOfKey(key, actions);
    return action && (() => (settling.isSettling() ? undefined : decision.press(action, { byKey: true })));
  };
  useKeys({ a: byKey('a'), r: byKey('r'), c: byKey('c') });

  return (
    <>
      <section className="panel" aria-label="Decision" ref={panel} tabIndex={-1}>
        <h2 className="section-title">{turnOf(desk)}</h2>
        {pending ? null : <Awaited review={shown} answered={news !== null} />}
        {news ? <p className="panel-line warning-text">{news.panel}</p> : null}
        <HoldLine review={shown} holder={holder} reload={reload} change={change} tell={decision.tell} />
        {pending && holder.kind !== 'other' ? <EditsLine desk={desk} change={change} draft={draft} /> : null}
        <FeedbackInput desk={desk} change={change} actions={actions} armed={armed} off={off} onSend={decision.press} />
      </section>
      <ActionBar actions={actions} busy={decision.busy} off={off} guard={settling.guard} onPress={decision.press} />
      {decision.confirming ? (
        <ConfirmDialog intent={decision.confirming} desk={desk} change={change} onConfirm={decision.confirm} onCancel={decision.cancel} />
      ) : null}
    </>
  );
}

/** Whose turn it is: not the agent's any more where its answer waits to be looked at. */
function turnOf({ shown, waiting }: Desk): string {
  if (shown.status === 'pending') return 'Your decision';
  if (waiting === null) return 'Waiting for the agent';
  return isOpen(waiting) ? 'Waiting for you' : 'Closed';
}

/** When it is somebody else's turn, what was pressed is gone: who pressed it reads on where the page says whose turn it is. */
function useFocusAfterTurn(status: string) {
  const panel = useRef<HTMLElement>(null);
  const was = useRef(status);
  useEffect(() => {
    if (was.current !== status && isFocusLost()) panel.current?.focus({ preventScroll: true });
    was.current = status;
  }, [status]);
  return panel;
}

/** What pressing a button of the bar would do, as far as one that is meant for something else would do harm. */
function meaningOf({ shown }: Desk, off: boolean): string {
  return [shown.id, shown.current_version, shown.payload_digest, off, ...shown.available_actions.map(({ id }) => id)].join(' ');
}
