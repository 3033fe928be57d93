/** Read models that can be made anew from the log. */
export const PROJECTIONS = ['audit', 'intake', 'directory'] as const;
export type ProjectionName = (typeof PROJECTIONS)[number];
