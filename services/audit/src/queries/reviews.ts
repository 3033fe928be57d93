/** Lists of reviews: by urgency, then newest first; what is settled, and what was decided, the latest first. */
import type { FeedbackItem, ReviewListQuery } from '@countersign/contracts';
import { isId } from '@countersign/event-store';
import { decodeCursor, encodeCursor, type Page } from '@countersign/http';
import type { RequestedReview } from '@countersign/review';
import type { DataSource, SelectQueryBuilder } from 'typeorm';
import { type ReviewRow, ReviewRows, TallyRows } from '../entities.js';

export interface Found {
  reviews: RequestedReview[];
  total: number;
  hasMore: boolean;
  nextCursor?: string;
}

/** Which rows somebody may see and asked for. Template ids are the limits of a key; null = all. */
export interface Filter extends Pick<ReviewListQuery, 'status' | 'priority' | 'template' | 'assignee' | 'outcome'> {
  project: string;
  templates: readonly string[] | null;
}

/** Columns that the rows and their tallies share, so that a list and its total ask the same question. */
function conditions(filter: Filter): [string, Record<string, unknown>][] {
  const { project, templates, status, priority, template, assignee, outcome } = filter;
  return [
    ['row.project = :project', { project }],
    ...(templates === null ? [] : [['row.template in (:...templates)', { templates: ['', ...templates] }] as [string, object]]),
    ...(status === undefined
      ? []
      : [['row.status = :status', { status: status === 'changes_requested' ? 'awaiting_iteration' : status }] as [string, object]]),
    ...(priority === undefined ? [] : [['row.priority = :priority', { priority }] as [string, object]]),
    ...(template === undefined ? [] : [['row.template_slug = :template', { template }] as [string, object]]),
    ...(assignee === undefined ? [] : [['row.assignee = :assignee', { assignee }] as [string, object]]),
    ...(outcome === undefined ? [] : [['row.outcome = :outcome', { outcome }] as [string, object]]),
  ] as [string, Record<string, unknown>][];
}

function filtered<T extends object>(query: SelectQueryBuilder<T>, filter: Filter): SelectQueryBuilder<T> {
  for (const [condition, parameters] of conditions(filter)) query.andWhere(condition, parameters);
  return query;
}

/** Exact for every combination: a sum over the few rows that hold the counts (decision 14). */
async function totalOf(db: DataSource, filter: Filter, condition = 'true'): Promise<number> {
  const query = filtered(db.getRepository(TallyRows).createQueryBuilder('row'), filter).andWhere(condition);
  query.select('coalesce(sum(row.count), 0)', 'total');
  const answer = await query.getRawOne<{ total: string }>();
  return Number(answer?.total ?? 0);
}

type ListPlace = [urgency: number, created: string, review: string];
const isListPlace = (value: unknown): value is ListPlace =>
  Array.isArray(value) && value.length === 3 && isUrgency(value[0]) && isTime(value[1]) && isId('rev', value[2]);
type LatestPlace = [at: string, review: string];
const isLatestPlace = (value: unknown): value is LatestPlace =>
  Array.isArray(value) && value.length === 2 && isTime(value[0]) && isId('rev', value[1]);
// Whoever makes a cursor up may write what Node reads and PostgreSQL does not: only what the list itself writes is one.
const isUrgency = (value: unknown): boolean => Number.isInteger(value) && Math.abs(value as number) < 2 ** 15;
const isTime = (value: unknown): boolean =>
  typeof value === 'string' && !Number.isNaN(Date.parse(value)) && new Date(value).toISOString() === value && /^\d{4}-/.test(value);

/** One row more than asked for tells whether there is more. */
function paged(rows: ReviewRow[], limit: number, total: number, placeOf: (row: ReviewRow) => unknown): Found {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const hasMore = rows.length > limit;
  return {
    reviews: shown.map((row) => row.state as RequestedReview),
    total,
    hasMore,
    ...(hasMore && last ? { nextCursor: encodeCursor(placeOf(last)) } : {}),
  };
}

/** In the order that was asked for. @throws {Problem} `invalid_cursor`. */
export async function listReviews(db: DataSource, filter: Filter & Pick<ReviewListQuery, 'sort'>, page: Page): Promise<Found> {
  if (filter.sort === 'settled_at') return listLatest(db, filter, page, 'settled_at');
  const query = filtered(db.getRepository(ReviewRows).createQueryBuilder('row'), filter)
    .orderBy('row.urgency', 'DESC')
    .addOrderBy('row.created_at', 'DESC')
    .addOrderBy('row.review', 'DESC')
    .limit(page.limit + 1)
    .offset(page.offset);
  if (page.cursor !== undefined) {
    const [urgency, created, review] = decodeCursor(page.cursor, isListPlace);
    query.andWhere('(row.urgency, row.created_at, row.review) < (:urgency, :created, :review)', { urgency, created, review });
  }
  const [rows, total] = await Promise.all([query.getMany(), totalOf(db, filter)]);
  return paged(rows, page.limit, total, (row) => [row.urgency, row.created_at.toISOString(), row.review] satisfies ListPlace);
}

/** What was decided, archived reviews included: a memory does not forget because a list was tidied. @throws {Problem} `invalid_cursor`. */
export function listDecided(db: DataSource, filter: Filter, page: Page): Promise<Found> {
  return listLatest(db, filter, page, 'decided_at');
}

/** Which rows have such a time, in the words of an index, and which tallies count them. */
const LATEST = {
  decided_at: { rows: 'row.outcome is not null', tallies: "row.outcome <> ''" },
  settled_at: { rows: 'row.settled_at is not null', tallies: "row.status in ('decided', 'expired', 'archived')" },
};

/** By a time that never changes once a row has it, so a cursor stays good whatever is added in front. */
async function listLatest(db: DataSource, filter: Filter, page: Page, at: keyof typeof LATEST): Promise<Found> {
  const query = filtered(db.getRepository(ReviewRows).createQueryBuilder('row'), filter)
    .andWhere(LATEST[at].rows)
    .orderBy(`row.${at}`, 'DESC')
    .addOrderBy('row.review', 'DESC')
    .limit(page.limit + 1)
    .offset(page.offset);
  if (page.cursor !== undefined) {
    const [time, review] = decodeCursor(page.cursor, isLatestPlace);
    query.andWhere(`(row.${at}, row.review) < (:time, :review)`, { time, review });
  }
  const [rows, total] = await Promise.all([query.getMany(), totalOf(db, filter, LATEST[at].tallies)]);
  return paged(rows, page.limit, total, (row) => [row[at]?.toISOString() ?? '', row.review] satisfies LatestPlace);
}

/** HRP §8. */
export function feedbackItem(review: RequestedReview): FeedbackItem {
  if (!('outcome' in review) || review.outcome.kind !== 'decided') throw new Error(`Review ${review.id} is listed as decided and is not.`);
  const { decision, decided_at, approved_value, edited_payload, changed_keys } = review.outcome;
  return {
    object: 'feedback',
    review_id: review.id,
    template: review.template.slug,
    decision,
    original_payload: review.payload,
    suggested_value: review.payload,
    ...(approved_value ? { approved_value } : {}),
    ...(edited_payload ? { edited_payload } : {}),
    ...(changed_keys.length > 0 ? { was_edited: true as const } : {}),
    ...(review.feedback === null ? {} : { feedback: review.feedback }),
    decided_at,
  };
}
