import { readJson } from '@countersign/evidence';
import { Problem } from './problem.js';

/** A page as a query asks for it. */
export interface Page {
  limit: number;
  offset: number;
  /** The text of `cursor`, for `decodeCursor`. */
  cursor?: string;
}

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 100;

/** Fills in what a validated query left out. A cursor and an offset together are refused (`invalid_cursor`): they would name two places. */
export function pageOf(query: { limit?: number; offset?: number; cursor?: string }): Page {
  if (query.cursor !== undefined && query.offset !== undefined) {
    throw new Problem('invalid_cursor', 'Use either cursor or offset, not both.', { param: 'cursor' });
  }
  return {
    limit: query.limit ?? DEFAULT_LIMIT,
    offset: query.offset ?? 0,
    ...(query.cursor === undefined ? {} : { cursor: query.cursor }),
  };
}

/** The lenient reading of HRP's older lists: what is absent, malformed or out of range becomes the nearest that is not. */
export function lenientPage(query: { limit?: string; offset?: string }): Page {
  const whole = (text: string | undefined) => (/^\d{1,9}$/.test(text ?? '') ? Number(text) : undefined);
  return { limit: Math.min(MAX_LIMIT, whole(query.limit) || DEFAULT_LIMIT), offset: whole(query.offset) ?? 0 };
}

/** A place in a list as an opaque text. It is not secret and not signed: it may hold nothing the caller could not ask for otherwise. */
export function encodeCursor(place: unknown): string {
  return Buffer.from(JSON.stringify(place), 'utf8').toString('base64url');
}

/**
 * The place a cursor stands for.
 * @param isPlace tells whether a decoded value is one this list makes.
 * @throws {Problem} `invalid_cursor`.
 */
export function decodeCursor<T>(cursor: string, isPlace: (value: unknown) => value is T): T {
  let place: unknown;
  try {
    place = readJson(Buffer.from(cursor, 'base64url').toString('utf8'));
  } catch {
    place = undefined;
  }
  if (!isPlace(place)) throw new Problem('invalid_cursor', 'The cursor is not valid for this list.', { param: 'cursor' });
  return place;
}

/** The list body of HRP §0 with our additions (decision 14). */
export function listBody<T>(
  items: T[],
  about: { total: number; hasMore: boolean; nextCursor?: string; totalIsCapped?: boolean },
): { object: 'list'; items: T[]; has_more: boolean; total: number; total_is_capped?: true; next_cursor?: string } {
  return {
    object: 'list',
    items,
    has_more: about.hasMore,
    total: about.total,
    ...(about.totalIsCapped ? { total_is_capped: true } : {}),
    ...(about.hasMore && about.nextCursor !== undefined ? { next_cursor: about.nextCursor } : {}),
  };
}
