export interface Neighbours {
  previous: string | null;
  next: string | null;
  /** Counted from 1; null for a review that is not in the queue. */
  place: number | null;
}

/**
 * The reviews before and after one in the queue. For one that has left it: those that stood around it when it was last there, as far as they
 * still wait, so that going on leads on; else the first.
 * @param last the queue when the review was last in it.
 */
export function neighboursOf(ids: readonly string[], id: string, last: readonly string[] = []): Neighbours {
  const index = ids.indexOf(id);
  if (index >= 0) return { previous: ids[index - 1] ?? null, next: ids[index + 1] ?? null, place: index + 1 };
  const was = last.indexOf(id);
  const waits = (other: string) => ids.includes(other);
  const previous = was < 0 ? undefined : last.slice(0, was).findLast(waits);
  const next = was < 0 ? undefined : last.slice(was + 1).find(waits);
  return { previous: previous ?? null, next: next ?? ids.find((other) => other !== previous) ?? null, place: null };
}
