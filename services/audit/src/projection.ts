import { type DeliveryEvent, EVENTS, type ReviewEvent } from '@countersign/contracts';
import type { Projection } from '@countersign/event-bus';
import { REDACTED, type StoredEvent } from '@countersign/event-store';
import { applyFailedDeliveries } from './projections/failed-deliveries.js';
import { applyLog } from './projections/log.js';
import { applyReviews } from './projections/reviews.js';

/** The log records everything, so the group handles every type there is; a new one parks its stream until this release knows it (K10). */
export const AUDIT_TYPES: readonly string[] = [...EVENTS.keys(), REDACTED];

/** Everything audit answers from. */
export const AUDIT_PROJECTION: Projection = {
  name: 'audit',
  schema: 'audit',
  tables: ['reviews', 'tallies', 'days', 'failed_deliveries', 'log'],
  categories: ['review', 'template', 'project', 'person', 'key', 'delivery'],
  async apply(tx, events, schema) {
    const reviews = events.filter((e) => e.category === 'review') as StoredEvent<ReviewEvent>[];
    const deliveries = events.filter((e) => e.category === 'delivery') as StoredEvent<DeliveryEvent>[];
    if (reviews.length > 0) await applyReviews(tx, reviews, schema);
    if (deliveries.length > 0) await applyFailedDeliveries(tx, deliveries, schema);
    await applyLog(tx, events, schema);
  },
};
