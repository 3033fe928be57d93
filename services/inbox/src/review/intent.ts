/**
 * What a person means to do, from the moment they begin.
 *
 * I1 It holds the version and the digest of what lay before them then, and is sent with those: never with the newest the page knows of.
 * I2 It is given up as soon as something else is there to be judged, or lies before them.
 */
import type { Review, ReviewAction, TemplateAction } from '@countersign/contracts';
import { approves, REJECT_MEANWHILE, takesEdits } from './action-effect.js';
import type { Desk } from './desk.js';
import { editedPayload } from './difference/edits.js';
import { judgedAlike } from './judged.js';

export interface Intent {
  action: TemplateAction;
  /** As it lay before the person when they began. */
  review: Review;
  body: ReviewAction;
}

/** Null while another version waits to be looked at: nothing can be decided then. */
export function intentOf(desk: Desk, action: TemplateAction): Intent | null {
  const { shown, waiting } = desk;
  if (waiting !== null) return null;
  const edited = takesEdits(action) ? editedPayload(shown.payload, desk.edits) : undefined;
  const feedback = desk.feedback.trim() === '' ? undefined : desk.feedback;
  return {
    action,
    review: shown,
    body: {
      action_id: action.id,
      version: shown.current_version,
      payload_digest: shown.payload_digest,
      ...(feedback === undefined ? {} : { feedback }),
      ...(edited === undefined ? {} : { edited_payload: edited }),
    },
  };
}

/** Whether what it was begun on is still all there is to judge. */
export function stands(intent: Intent, desk: Desk): boolean {
  return desk.waiting === null && judgedAlike(intent.review, desk.shown);
}

/**
 * Whether it is asked about once more before it is sent: where the template wants that of the action, when what is approved cannot be undone,
 * when a person closes what the agent is working on, and whenever it was begun by a shortcut, for keys are hit by accident.
 */
export function asksFirst({ action, review }: Intent, { byKey }: { byKey: boolean }): boolean {
  const forGood = approves(action) && review.irreversibility === 'irreversible';
  return byKey || forGood || action.confirmation === true || action.id === REJECT_MEANWHILE;
}

/** Whether its dialog asks for the reason: the protocol's own reject takes it or leaves it, where the template's requires one. */
export function asksWhy({ action, review, body }: Intent): boolean {
  const own = review.actions.filter(({ decision_value }) => decision_value === 'rejected');
  const isOwn = own.some(({ id }) => id === action.id);
  return action.decision_value === 'rejected' && !isOwn && body.feedback === undefined && own.some((reject) => reject.requires_feedback);
}

/** With the reason its dialog asked for. */
export function withReason(intent: Intent, feedback: string): Intent {
  return asksWhy(intent) ? { ...intent, body: { ...intent.body, feedback } } : intent;
}
