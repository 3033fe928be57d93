import { Problem } from '@countersign/http';

/** Positions one request may verify; `countersign verify` does the whole log. */
export const VERIFY_RANGE = 100_000;

/**
 * What a request verifies: the newest events when it names no beginning, up to the head.
 * @throws {Problem} `invalid_request` where nothing lies in between ("valid" would be said of nothing), `range_too_large`.
 */
export function rangeToVerify(query: { from?: number; to?: number }, head: number): { from: number; to: number } {
  const to = Math.min(query.to ?? head, head);
  const from = query.from ?? Math.max(1, to - VERIFY_RANGE + 1);
  if (from > to && head > 0) {
    throw new Problem('invalid_request', `There is no event in this range; the log ends at position ${head}.`, { param: 'query.from' });
  }
  if (to - from >= VERIFY_RANGE) throw new Problem('range_too_large', undefined, { param: 'query.from' });
  return { from, to };
}
