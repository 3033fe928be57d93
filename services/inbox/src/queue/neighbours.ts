/** The reviews before and after one in the queue; for one that has left it, the first that is still there. */
export function neighboursOf(ids: readonly string[], id: string): { previous: string | null; next: string | null; place: number | null } {
  const index = ids.indexOf(id);
  if (index < 0) return { previous: null, next: ids[0] ?? null, place: null };
  return { previous: ids[index - 1] ?? null, next: ids[index + 1] ?? null, place: index + 1 };
}
