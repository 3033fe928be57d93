/**
 * What lies before the person: a review as they see it, and what they have typed about it.
 *
 * T1 What is decided is what is shown. What is shown never changes by itself: whatever else there is to judge waits until the person turns to it.
 *    Only the end of the review takes its place at once, when it is about the version shown: nothing can be decided then.
 * T2 Nothing typed is thrown away but by the person, by its being sent, or by a version that says the same by itself.
 * T3 An answer older than what is shown changes nothing.
 */
import type { Review } from '@countersign/contracts';
import { type Edit, type Edits, editsOf, standing } from './difference/edits.js';
import { judgedAlike, sameVersion } from './judged.js';

export interface Desk {
  shown: Review;
  /** What there is to judge by now, waiting for the person to look at it (T1); nothing is decided meanwhile. */
  waiting: Review | null;
  edits: Edits;
  feedback: string;
  /** Action that was chosen and waits for its feedback. */
  armed: string | null;
  /** Version the person turned to from another. */
  arrived: number | null;
  /** Edits that went along with a request for changes, for when it is taken back. */
  suggested: Edits;
}

export type DeskEvent =
  | { type: 'loaded'; review: Review }
  | { type: 'typed'; field: string; edit: Edit }
  | { type: 'reverted'; field: string }
  | { type: 'feedback'; text: string }
  | { type: 'armed'; action: string | null }
  | { type: 'turned' }
  | { type: 'discarded' }
  | { type: 'restored'; edits: Edits; feedback?: string }
  /** `sent`: what of the typed went along. `takenBack`: a request for changes was; with its words where they are this person's. */
  | { type: 'acted'; review: Review; sent: 'all' | 'feedback' | 'nothing'; takenBack?: string | null };

export interface Typed {
  edits: Edits;
  feedback: string;
}

export function openDesk(review: Review, typed: Typed = { edits: {}, feedback: '' }): Desk {
  return {
    shown: review,
    waiting: null,
    edits: standing(review.payload, typed.edits),
    feedback: typed.feedback,
    armed: null,
    arrived: null,
    suggested: {},
  };
}

/** The server takes no longer feedback, in characters. */
export const LONGEST_FEEDBACK = 10_000;

export function isOpen(review: Pick<Review, 'status'>): boolean {
  return review.status === 'pending' || review.status === 'awaiting_iteration';
}

/** What a key of the payload is called on the page. */
export function labelOf(review: Pick<Review, 'template_fields'>, name: string): string {
  return review.template_fields.find((field) => field.name === name)?.label ?? name;
}

export function hasTyped(desk: Pick<Desk, 'edits' | 'feedback'>): boolean {
  return Object.keys(desk.edits).length > 0 || desk.feedback.trim() !== '';
}

export function changeDesk(desk: Desk, event: DeskEvent): Desk {
  switch (event.type) {
    case 'loaded':
      return loaded(desk, event.review);
    case 'typed':
      return { ...desk, edits: standing(desk.shown.payload, { ...desk.edits, [event.field]: event.edit }) };
    case 'reverted': {
      const { [event.field]: _reverted, ...edits } = desk.edits;
      return { ...desk, edits };
    }
    case 'feedback':
      return { ...desk, feedback: event.text };
    case 'armed':
      return { ...desk, armed: event.action };
    case 'turned':
      return desk.waiting === null ? desk : turned(desk, desk.waiting);
    case 'discarded':
      return { ...desk, edits: {}, feedback: '', armed: null };
    case 'restored':
      return { ...desk, edits: standing(desk.shown.payload, { ...desk.edits, ...event.edits }), feedback: event.feedback ?? desk.feedback };
    case 'acted': {
      const { shown, waiting } = desk;
      const taken = { ...desk, armed: null, ...typedAfter(desk, event) };
      if (!sameVersion(shown, event.review)) return loaded(taken, event.review);
      const newer = waiting !== null && waiting.updated_at > event.review.updated_at ? waiting : null;
      return { ...taken, shown: event.review, waiting: newer, arrived: null };
    }
  }
}

/** What was sent is no longer typed; what was taken back is typed again, unless something else is by now. */
function typedAfter(desk: Desk, { sent, takenBack }: Extract<DeskEvent, { type: 'acted' }>): Partial<Desk> {
  if (sent === 'all') return { edits: {}, feedback: '', suggested: desk.edits };
  if (takenBack === undefined) return sent === 'feedback' ? { feedback: '' } : {};
  const feedback = desk.feedback.trim() === '' ? (takenBack ?? desk.feedback) : desk.feedback;
  return { feedback, edits: standing(desk.shown.payload, { ...desk.suggested, ...desk.edits }), suggested: {} };
}

function loaded(desk: Desk, review: Review): Desk {
  if (review.updated_at < desk.shown.updated_at || (desk.waiting && review.updated_at < desk.waiting.updated_at)) return desk;
  const inPlace = judgedAlike(desk.shown, review) || (sameVersion(desk.shown, review) && !isOpen(review)) || !isOpen(desk.shown);
  return inPlace ? { ...desk, shown: review, waiting: null } : { ...desk, waiting: review };
}

function turned(desk: Desk, review: Review): Desk {
  const kept = isOpen(review) ? standing(review.payload, desk.edits) : desk.edits;
  return {
    ...desk,
    shown: review,
    waiting: null,
    edits: kept,
    armed: null,
    arrived: sameVersion(desk.shown, review) ? null : review.current_version,
    suggested: sameVersion(desk.shown, review) ? desk.suggested : {},
  };
}

/** Edits the server keeps for the review, where they are this person's; whoever saved last is the author. */
export function ownDraft(review: Review, me: { name: string; email: string }): Edits | null {
  return review.draft_payload !== null && review.draft_by === (me.name || me.email)
    ? editsOf(review.template_fields, review.draft_payload)
    : null;
}
