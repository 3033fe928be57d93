import type { ReviewEvent } from '@countersign/contracts';
import type { Projection } from '@countersign/event-bus';
import type { StoredEvent } from '@countersign/event-store';
import { applyDepartures, MEMBERSHIP_TYPES, type MembershipEvent } from './projections/departures.js';
import { applyInHand, IN_HAND_TYPES } from './projections/in-hand.js';

/** Facts of who has a review in hand, and of who leaves a project or joins it. */
export const DECISIONS_TYPES: readonly string[] = [...IN_HAND_TYPES, ...MEMBERSHIP_TYPES];

/** Whose hands open reviews are in, and who has left. The drafts of the same schema are no projection: the log cannot bring them back (K1). */
export const DECISIONS_PROJECTION: Projection = {
  name: 'decisions',
  schema: 'decisions',
  tables: ['in_hand', 'departures'],
  categories: ['project', 'review'],
  async apply(tx, all, schema) {
    const events = all.filter((event) => DECISIONS_TYPES.includes(event.type));
    const memberships = events.filter((event) => event.category === 'project') as StoredEvent<MembershipEvent>[];
    const reviews = events.filter((event) => event.category === 'review') as StoredEvent<ReviewEvent>[];
    if (memberships.length > 0) await applyDepartures(tx, memberships, schema);
    if (reviews.length > 0) await applyInHand(tx, reviews, schema);
  },
};
