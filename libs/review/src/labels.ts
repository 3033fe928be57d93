import { type Actor, metaOf, type ReviewEvent, type SystemActor } from '@countersign/contracts';
import type { EventMeta } from '@countersign/event-store';
import type { ReviewState } from './state.js';

/** Routing hints that travel beside a review's events (`EventMeta.labels`), for consumers that must not load the stream. */
export function labelsOf(review: { template: { slug: string }; priority: string }): { template_slug: string; priority: string } {
  return { template_slug: review.template.slug, priority: review.priority };
}

/** Metadata for a command on a review: labels of the review as it stands, or as the request makes it. */
export function reviewMeta(caller: { actor: Actor | SystemActor | null; request_id?: string; caused_by?: string }) {
  return (before: ReviewState, events: readonly ReviewEvent[]): EventMeta => {
    const [first] = events;
    const labels = before.status !== 'none' ? labelsOf(before) : first?.type === 'review.requested' ? labelsOf(first.body) : undefined;
    const { caused_by } = caller;
    return { ...metaOf(caller), ...(caused_by && { causation_id: caused_by }), ...(labels && { labels }) };
  };
}
