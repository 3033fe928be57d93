import { type Dispatch, useEffect, useRef } from 'react';
import { useMore } from '../../elements/more.js';
import { useSettling } from '../../elements/settling.js';
import { useAnnounce } from '../../elements/telling/Announcer.js';
import { Drawn } from '../../markdown/Drawn.js';
import { type Desk, type DeskEvent, isOpen } from '../../review/desk.js';
import { holderOf } from '../../review/holder.js';
import { useSession } from '../../session/session-context.js';
import { DecisionPanel } from './deciding/DecisionPanel.js';
import { useDecision } from './deciding/use-decision.js';
import { useDraft } from './deciding/use-draft.js';
import { Facts } from './Facts.js';
import { Notices } from './Notices.js';
import { Outcome } from './Outcome.js';
import { ReviewFields } from './ReviewFields.js';
import { ReviewHead } from './ReviewHead.js';
import { VersionHistory } from './VersionHistory.js';

interface DeskProps {
  desk: Desk;
  change: Dispatch<DeskEvent>;
  reload: () => void;
  /** The next review that waits. */
  next: string | null;
}

/** A review as it lies before the person: what is asked, what they make of it, and what they can do. */
export function ReviewDesk({ desk, change, reload, next }: DeskProps) {
  const { me, project } = useSession();
  const { shown } = desk;
  const open = isOpen(shown);
  const holder = holderOf(shown, me, project.role);
  const heldByOther = open && holder.kind === 'other';
  const draft = useDraft(desk, { paused: heldByOther });
  const decision = useDecision({ desk, change, reload });
  const editable = shown.status === 'pending' && !heldByOther;
  const outcome = useOutcomeInSight(desk);
  const side = useMore<HTMLElement>('y');
  // What lies where the buttons were is not what a second press was meant for.
  const { guard } = useSettling(`${shown.id} ${open}`);

  return (
    <div className="review-layout" {...(open ? {} : guard)}>
      <div className="review-main">
        <ReviewHead review={shown} />
        <Notices desk={desk} change={change} notice={decision.notice} onDismiss={decision.dismiss} />
        {open ? null : <Outcome review={shown} next={next} change={change} tell={decision.tell} ref={outcome} />}
        {shown.template?.instructions && open ? (
          <section className="instructions" aria-labelledby="instructions-title">
            <h2 id="instructions-title" className="visually-hidden">
              Instructions of the template
            </h2>
            <Drawn text={shown.template.instructions} below={2} />
          </section>
        ) : null}
        {shown.current_version > 1 ? <VersionHistory review={shown} /> : null}
        <ReviewFields desk={desk} change={change} editable={editable} disabled={decision.busy !== null} />
      </div>
      <aside className="review-side" aria-label={open ? 'Your decision' : 'About this review'} {...side}>
        <div className="review-side-content">
          {open ? <DecisionPanel desk={desk} change={change} reload={reload} holder={holder} draft={draft} decision={decision} /> : null}
          <Facts review={shown} />
        </div>
      </aside>
    </div>
  );
}

/** When the review is settled while the person looks on, that is where they look next. */
function useOutcomeInSight(desk: Desk) {
  const announce = useAnnounce();
  const outcome = useRef<HTMLDivElement>(null);
  const open = isOpen(desk.shown);
  const was = useRef(open);
  useEffect(() => {
    if (was.current && !open) {
      outcome.current?.focus();
      announce('The review is closed');
    }
    was.current = open;
  }, [open, announce]);
  return outcome;
}
