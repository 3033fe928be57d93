/** Events for the figures of the bus: what is appended, or produced, and how many for a round of a second. */
export const PER_S = 20_000;
export const CATEGORY = 'review';
export const BATCH = 500;
