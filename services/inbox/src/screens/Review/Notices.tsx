import { type Dispatch, useEffect, useRef } from 'react';
import { isFocusLost } from '../../elements/focus.js';
import { Banner } from '../../elements/telling/Banner.js';
import { Ago } from '../../elements/time/Moment.js';
import { type Desk, type DeskEvent, hasTyped, isOpen, labelOf, ownDraft } from '../../review/desk.js';
import { editedPayload, editsOf } from '../../review/difference/edits.js';
import { equalJson } from '../../review/difference/equal-json.js';
import { readable } from '../../review/difference/payload-difference.js';
import { whatWaits } from '../../review/what-waits.js';
import { useSession } from '../../session/session-context.js';
import type { Notice } from './deciding/use-decision.js';

interface NoticesProps {
  desk: Desk;
  change: Dispatch<DeskEvent>;
  notice: Notice | null;
  onDismiss: () => void;
}

/** What the person has to know before they go on. */
export function Notices({ desk, change, notice, onDismiss }: NoticesProps) {
  const { shown, waiting, arrived } = desk;
  const news = waiting && whatWaits(shown, waiting);
  const top = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (notice) top.current?.scrollIntoView({ block: 'nearest' });
  }, [notice]);
  // Who turned to what waited reads on here: the button they pressed is gone.
  const waited = useRef(waiting);
  useEffect(() => {
    if (waited.current !== null && waiting === null && isFocusLost()) top.current?.focus({ preventScroll: true });
    waited.current = waiting;
  }, [waiting]);
  return (
    <div className={`notices ${news ? 'notices-kept' : ''}`} ref={top} tabIndex={-1}>
      {notice ? (
        <Banner
          tone={notice.tone}
          title={notice.title}
          urgent={notice.tone !== 'good'}
          actions={
            <button type="button" className="button-text" onClick={onDismiss}>
              Dismiss
            </button>
          }
        >
          {notice.text}
        </Banner>
      ) : null}
      {news ? (
        <Banner
          tone="accent"
          title={news.title}
          urgent
          actions={
            <button type="button" className="button button-primary" onClick={() => change({ type: 'turned' })}>
              {news.turn}
            </button>
          }
        >
          {news.stays} Your input is kept.
        </Banner>
      ) : arrived !== null && isOpen(shown) ? (
        <Banner tone="accent" title={`You are now looking at version ${arrived}`}>
          The agent’s changes are listed below.
        </Banner>
      ) : null}
      <OthersDraft desk={desk} change={change} />
      {isOpen(shown) ? null : <LeftOver desk={desk} change={change} />}
    </div>
  );
}

/** Edits somebody else left unsent. Saving one's own takes their place, so they are offered first. */
function OthersDraft({ desk, change }: { desk: Desk; change: Dispatch<DeskEvent> }) {
  const { me } = useSession();
  const { shown, edits } = desk;
  if (!isOpen(shown) || shown.draft_payload === null || ownDraft(shown, me) !== null) return null;
  if (equalJson(editedPayload(shown.payload, edits), shown.draft_payload)) return null;
  const theirs = editsOf(shown.template_fields, shown.draft_payload);
  return (
    <Banner
      tone="plain"
      title={`${shown.draft_by} left draft edits`}
      actions={
        <button type="button" className="button" onClick={() => change({ type: 'restored', edits: theirs })}>
          Use them
        </button>
      }
    >
      {shown.draft_at ? <Ago time={shown.draft_at} /> : null}
      {Object.keys(theirs).length > 0
        ? `: ${Object.keys(theirs)
            .map((name) => labelOf(shown, name))
            .join(', ')}`
        : null}
    </Banner>
  );
}

/** What was typed about a review that was settled before it was sent: there to be copied, or let go. */
function LeftOver({ desk, change }: { desk: Desk; change: Dispatch<DeskEvent> }) {
  if (!hasTyped(desk)) return null;
  const { edits, feedback } = desk;
  return (
    <section className="left-over" aria-labelledby="left-over-title">
      <header className="left-over-head">
        <h2 id="left-over-title" className="section-title">
          Your unsent input
        </h2>
        <button type="button" className="button-text" onClick={() => change({ type: 'discarded' })}>
          Discard
        </button>
      </header>
      <p className="muted">It was not submitted. Copy anything you still need.</p>
      <dl className="left-over-list">
        {feedback.trim() === '' ? null : (
          <div>
            <dt>Feedback</dt>
            <dd className="value-text">{feedback}</dd>
          </div>
        )}
        {Object.entries(edits).map(([name, edit]) => (
          <div key={name}>
            <dt>{labelOf(desk.shown, name)}</dt>
            <dd className="value-text">{edit.text ?? readable(edit.value)}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
