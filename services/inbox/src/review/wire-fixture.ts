/** Reviews as the server's own rules make them, for the tests of what the page makes of those. */
import type { Review, ReviewEvent, TemplateAction } from '@countersign/contracts';
import { type RequestedReview, type ReviewState, resubmit, toWire } from '@countersign/review';
import { type Asked, agent, ann, asked, at, bob, doing } from '@countersign/review/fixture';
import type { Story } from '@countersign/testing';

export type Told = Story<ReviewState, ReviewEvent>;

export const shownAfter = ({ state }: Told, seconds = 60): Review => toWire(state as RequestedReview, at(seconds));

export const requested = (how: Asked = {}): Told => asked(how);

export const askedForChanges = (story: Told = requested(), feedback = 'Friendlier, please'): Told =>
  story.after(10).when(doing(ann, 'request_changes', { feedback })).next;

export const resubmitted = (payload: Record<string, unknown>, story: Told = askedForChanges()): Told =>
  story.after(10).when((state, now) => resubmit({ actor: agent, payload, version: 2 }, state, now)).next;

export const decidedBy = (actor: typeof ann, action: string, story: Told = requested(), more: Parameters<typeof doing>[2] = {}): Told =>
  story.after(10).when(doing(actor, action, more)).next;

export const [mine, theirs] = [ann, bob];

export const action = (id: string, more: Partial<TemplateAction> = {}): TemplateAction => ({ id, label: id, kind: 'decision', ...more });
