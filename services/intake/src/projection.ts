import { type ReviewEvent, TEMPLATE_EVENTS, type TemplateEvent } from '@countersign/contracts';
import type { Projection } from '@countersign/event-bus';
import { REDACTED, type StoredEvent } from '@countersign/event-store';
import { applyOpenReviews } from './projections/open-reviews.js';
import { applyTemplates } from './projections/templates.js';

/** Types that open a review or settle it, and all that happen to a template. */
export const INTAKE_TYPES: readonly string[] = [
  ...Object.keys(TEMPLATE_EVENTS),
  'review.requested',
  'review.decided',
  'review.expired',
  'review.withdrawn',
  REDACTED,
];

/** What intake lists and counts. */
export const INTAKE_PROJECTION: Projection = {
  name: 'intake',
  schema: 'intake',
  tables: ['templates', 'open_reviews'],
  categories: ['template', 'review'],
  async apply(tx, all, schema) {
    const events = all.filter((event) => INTAKE_TYPES.includes(event.type));
    const templates = events.filter((event) => event.category === 'template') as StoredEvent<TemplateEvent>[];
    const reviews = events.filter((event) => event.category === 'review') as StoredEvent<ReviewEvent>[];
    if (templates.length > 0) await applyTemplates(tx, templates, schema);
    if (reviews.length > 0) await applyOpenReviews(tx, reviews, schema);
  },
};
