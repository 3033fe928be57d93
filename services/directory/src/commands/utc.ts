/** A moment a caller named, in the form kept everywhere; null for none, and for a text that is no moment (a leap second, 30 February). */
export function utcOf(moment: string | null): string | null {
  const time = moment === null ? Number.NaN : Date.parse(moment);
  return Number.isNaN(time) ? null : new Date(time).toISOString();
}
