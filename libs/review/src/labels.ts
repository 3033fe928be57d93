import type { Actor, ReviewEvent } from '@countersign/contracts';
import type { EventMeta } from '@countersign/event-store';
import type { ReviewState } from './state.js';

/** Routing hints that travel beside a review's events (`EventMeta.labels`), for consumers that must not load the stream. */
export function labelsOf(review: { template: { slug: string }; priority: string }): { template_slug: string; priority: string } {
  return { template_slug: review.template.slug, priority: review.priority };
}

/** A part of the station that acts by itself. */
export interface SystemActor {
  kind: 'system';
  /** What acts, such as `clock`. */
  id: string;
}

/** Who causes an event, as its metadata says it; null for what the clock does. */
export function metaActor(actor: Actor | SystemActor | null): EventMeta['actor'] {
  switch (actor?.kind) {
    case 'system':
      return actor;
    case 'agent':
      return { kind: 'agent', id: actor.key_id, label: actor.key_prefix };
    case 'person':
      return { kind: 'person', id: actor.person_id };
    default:
      return { kind: 'system', id: 'clock' };
  }
}

/** Metadata for a command on a review: labels of the review as it stands, or as the request makes it. */
export function reviewMeta(caller: { actor: Actor | SystemActor | null; request_id?: string; caused_by?: string }) {
  return (before: ReviewState, events: readonly ReviewEvent[]): EventMeta => {
    const [first] = events;
    const labels = before.status !== 'none' ? labelsOf(before) : first?.type === 'review.requested' ? labelsOf(first.body) : undefined;
    const { actor, request_id, caused_by } = caller;
    return { actor: metaActor(actor), request_id, ...(caused_by && { causation_id: caused_by }), ...(labels && { labels }) };
  };
}
