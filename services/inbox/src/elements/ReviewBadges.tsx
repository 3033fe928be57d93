import type { Review } from '@countersign/contracts';
import { Badge, type Tone } from './Badge.js';

type Priority = Review['priority'];

const PRIORITIES: Record<Priority, { label: string; tone: Tone }> = {
  critical: { label: 'Critical', tone: 'danger' },
  high: { label: 'High', tone: 'warning' },
  normal: { label: 'Normal', tone: 'plain' },
  low: { label: 'Low', tone: 'plain' },
};

/** A mark before a row, for the eye that runs down the list; the row's badges say it in words. */
export function PriorityMark({ priority }: { priority: Priority }) {
  return <span className={`priority-mark priority-${priority}`} aria-hidden="true" />;
}

export function PriorityBadge({ priority }: { priority: Priority }) {
  const { label, tone } = PRIORITIES[priority];
  return <Badge tone={tone}>{label} priority</Badge>;
}

const REVERSAL: Record<NonNullable<Review['irreversibility']>, { words: string; tone: Tone }> = {
  irreversible: { words: 'Cannot be undone', tone: 'danger' },
  costly_reversible: { words: 'Costly to undo', tone: 'warning' },
  reversible: { words: 'Can be undone', tone: 'plain' },
};

/** Whether what would be approved can be taken back; nothing where the agent did not say, and in brief only what gives pause. */
export function IrreversibilityBadge({ irreversibility, brief = false }: { irreversibility: Review['irreversibility']; brief?: boolean }) {
  if (irreversibility === null || (brief && irreversibility === 'reversible')) return null;
  const { words, tone } = REVERSAL[irreversibility];
  return <Badge tone={tone}>{words}</Badge>;
}

const OUTCOMES: Partial<Record<NonNullable<Review['decision']>, { label: string; tone: Tone }>> = {
  approved: { label: 'Approved', tone: 'good' },
  edited: { label: 'Approved with edits', tone: 'good' },
  rejected: { label: 'Rejected', tone: 'danger' },
  max_iterations_reached: { label: 'Closed: change-request limit', tone: 'warning' },
};

/** How a review ended, in two words. */
export function outcomeOf(review: Pick<Review, 'status' | 'decision' | 'withdrawn'>): { label: string; tone: Tone } {
  if (review.withdrawn) return { label: 'Withdrawn', tone: 'plain' };
  if (review.decision !== null) return OUTCOMES[review.decision] ?? { label: review.decision, tone: 'plain' };
  return review.status === 'awaiting_iteration' ? { label: 'Waiting for the agent', tone: 'accent' } : { label: 'Expired', tone: 'plain' };
}

export function OutcomeBadge({ review }: { review: Pick<Review, 'status' | 'decision' | 'withdrawn'> }) {
  const { label, tone } = outcomeOf(review);
  return <Badge tone={tone}>{label}</Badge>;
}
