import type { TemplateAction } from '@countersign/contracts';
import { type Dispatch, useEffect, useRef, useState } from 'react';
import { useApi } from '../../../api/api-context.js';
import { mayPass, Refused, sentenceOf, sessionEnded } from '../../../api/failure.js';
import type { Tone } from '../../../elements/Badge.js';
import { outcomeOf } from '../../../elements/ReviewBadges.js';
import { useAnnounce } from '../../../elements/telling/Announcer.js';
import { TAKE_BACK, takesEdits } from '../../../review/action-effect.js';
import { fullTimeOf } from '../../../review/deadline.js';
import { byWhom } from '../../../review/decider.js';
import { type Desk, type DeskEvent, labelOf } from '../../../review/desk.js';
import { problems } from '../../../review/difference/edits.js';
import { asksFirst, type Intent, intentOf, stands, withReason } from '../../../review/intent.js';
import { useSession } from '../../../session/session-context.js';

/** Why something did not go as it was asked. */
export interface Notice {
  tone: Tone;
  title: string;
  text: string;
  /** It holds only until the server answers again. */
  passes?: true;
}

export interface Decision {
  /** Action under way. */
  busy: string | null;
  /** What asks to be confirmed; gone as soon as something else is there to be judged. */
  confirming: Intent | null;
  notice: Notice | null;
  /** Begins an action, which is done at once unless it is to be asked about first (`asksFirst`). */
  press: (action: TemplateAction, options?: { byKey?: boolean }) => void;
  confirm: () => void;
  cancel: () => void;
  dismiss: () => void;
  tell: (notice: Notice) => void;
}

/** The review is read again this long after there was no answer; until it is, that is tried again. */
const ASK_AGAIN_MS = 3_000;

const STILL_HERE = 'Nothing was submitted; your input is still here.';

/** Doing one of the review's actions: what has to be asked first, the request, and what its answer means. */
export function useDecision({ desk, change, reload }: { desk: Desk; change: Dispatch<DeskEvent>; reload: () => void }): Decision {
  const api = useApi();
  const announce = useAnnounce();
  const { me } = useSession();
  const [busy, setBusy] = useState<string | null>(null);
  const [asked, setAsked] = useState<Intent | null>(null);
  const [notice, setNotice] = useState<Notice | null>(null);
  usePassing({ notice, desk, reload, clear: () => setNotice(null) });
  const { shown } = desk;
  const confirming = asked !== null && stands(asked, desk) ? asked : null;
  const dropped = asked !== null && confirming === null;
  useEffect(() => {
    if (!dropped) return;
    setAsked(null);
    // The dialog gives the focus back to a button that is off by now.
    document.querySelector<HTMLElement>('.notices')?.focus();
    announce('The question was closed: the review has changed. Nothing was submitted.');
  }, [dropped, announce]);

  function press(action: TemplateAction, { byKey = false } = {}): void {
    const intent = intentOf(desk, action);
    if (intent === null) return;
    setNotice(null);
    const [first] = takesEdits(action) ? problems(desk.edits) : [];
    if (first) {
      // The field itself says what is wrong; it only has to be in sight.
      announce(`Fix your edits first. ${labelOf(shown, first[0])}: ${first[1]}`);
      const input = document.querySelector<HTMLElement>('.fields [aria-invalid="true"]');
      input?.focus({ preventScroll: true });
      input?.scrollIntoView({ block: 'center' });
    } else if (action.requires_feedback && desk.feedback.trim() === '') {
      change({ type: 'armed', action: action.id });
    } else if (asksFirst(intent, { byKey })) {
      setAsked(intent);
    } else {
      void send(intent);
    }
  }

  async function send({ action, review: begun, body }: Intent): Promise<void> {
    setAsked(null);
    setBusy(action.id);
    try {
      const review = await api.call('actOnReview', { params: { id: begun.id }, project: begun.project_id, body });
      const done = doneNotice(action);
      // Only one's own: another's words would go out again under this person's name.
      const request = begun.change_request;
      const own = request?.requested_by === `reviewer:${me.email}`;
      const takenBack = action.id !== TAKE_BACK ? undefined : own ? request.feedback : null;
      const sent = takesEdits(action) ? 'all' : body.feedback === undefined ? 'nothing' : 'feedback';
      change({ type: 'acted', review, sent, takenBack });
      // A notice is read out by itself.
      if (done === null) announce(`Done: ${action.label}`);
      setNotice(done);
    } catch (error) {
      setNotice(noticeOf(error, me.email));
      if (!mayPass(error)) reload();
    } finally {
      setBusy(null);
    }
  }

  return {
    busy,
    confirming,
    notice,
    press,
    confirm: () => {
      if (confirming) void send(withReason(confirming, desk.feedback));
    },
    cancel: () => setAsked(null),
    dismiss: () => setNotice(null),
    tell: setNotice,
  };
}

/** What came about by an action after which the page looks much as before; null for those whose effect is seen. */
function doneNotice({ id, kind, label }: TemplateAction): Notice | null {
  if (id === TAKE_BACK) return { tone: 'good', title: 'Request for changes taken back', text: 'It is yours to decide again.' };
  return kind === 'side_effect' ? { tone: 'good', title: `Recorded: ${label}`, text: 'The review stays open.' } : null;
}

/** Takes a notice away that the server's next answer makes untrue, and sees to it that there is one. */
function usePassing({ notice, desk, reload, clear }: { notice: Notice | null; desk: Desk; reload: () => void; clear: () => void }): void {
  const announce = useAnnounce();
  const answer = desk.waiting ?? desk.shown;
  const passing = notice?.passes === true;
  const known = useRef(answer);
  const act = useRef({ reload, clear });
  act.current = { reload, clear };
  useEffect(() => {
    if (!passing) return;
    const due = setTimeout(() => act.current.reload(), ASK_AGAIN_MS);
    return () => clearTimeout(due);
  }, [passing]);
  useEffect(() => {
    if (passing && known.current !== answer) {
      act.current.clear();
      announce('The server is responding again');
    }
    known.current = answer;
  }, [passing, answer, announce]);
}

/** What an answer that is not a yes means for the person. */
export function noticeOf(error: unknown, own: string): Notice {
  if (sessionEnded(error)) return { tone: 'warning', title: 'Not submitted: you were signed out', text: 'Sign in and try again.' };
  if (!(error instanceof Refused))
    return { tone: 'warning', title: 'No response', text: `${sentenceOf(error)} It is safe to submit again.`, passes: true };
  const { review, held_by } = error.info;
  if (error.code === 'version_mismatch' || error.code === 'payload_digest_mismatch') {
    return { tone: 'warning', title: 'The agent has submitted a newer version', text: STILL_HERE };
  }
  if (review && (review.decision !== null || review.status === 'expired' || review.status === 'archived')) {
    const { label } = outcomeOf({ status: review.status, decision: review.decision, withdrawn: false });
    const by = review.decided_by === null ? '' : ` ${byWhom(review.decided_by, own)}`;
    const at = review.decided_at === null ? '' : `, ${fullTimeOf(review.decided_at)}`;
    return { tone: 'warning', title: `Already decided: ${label.toLowerCase()}${by}${at}`, text: STILL_HERE };
  }
  if (held_by !== undefined)
    return { tone: 'warning', title: `${held_by.replace(/^reviewer:/, '')} has claimed this review`, text: STILL_HERE };
  if (error.code === 'requester_cannot_approve') {
    return {
      tone: 'warning',
      title: 'Someone else must approve this',
      text: 'You requested it, are responsible for the agent that did, or made or rotated its key.',
    };
  }
  return { tone: 'warning', title: 'Action failed', text: sentenceOf(error) };
}
