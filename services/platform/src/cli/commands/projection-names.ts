/** Read models that can be made anew from the log. */
export const PROJECTIONS = ['audit', 'intake', 'decisions', 'directory'] as const;
export type ProjectionName = (typeof PROJECTIONS)[number];
