/** Nothing has the focus: what had it is gone, and nobody has gone elsewhere meanwhile. */
export const isFocusLost = (): boolean => document.activeElement === null || document.activeElement === document.body;
