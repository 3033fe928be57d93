import type { DeliveryListQuery, DeliveryReplay } from '@countersign/contracts';
import { isId, uuidOf } from '@countersign/event-store';
import type { Page } from '@countersign/http';
import type { Pool } from 'pg';
import { type AttemptRow, type DeliveryRow, storedStatus } from './wire.js';

/** Counting stops here (decision 14). */
export const COUNTED = 10_000;

const COLUMNS = `d.id, d.review, d.event_type, d.url, d.status, d.attempts, d.attempts_apart, d.next_attempt_at, d.lease, d.expedited,
  d.last_attempt_at, d.last_error, d.delivered_at, d.created_at, e.origin, e.failures, e.open_until, e.last_success_at, e.last_failure_at,
  e.last_error as endpoint_error, event_store.now() as now`;
const TABLES = 'webhooks.deliveries d join webhooks.endpoints e on e.id = d.endpoint';

/** A place in the list: newest first, ids break ties. */
export interface Place {
  at: string;
  id: string;
}

export function isPlace(value: unknown): value is Place {
  const { at, id } = (value ?? {}) as Record<string, unknown>;
  return typeof at === 'string' && /^\d{4}-/.test(at) && !Number.isNaN(Date.parse(at)) && isId('whd', id);
}

type Filter = Omit<DeliveryListQuery, 'limit' | 'offset' | 'cursor'> & Pick<DeliveryReplay, 'ids'>;

/** One page of a project's deliveries, and how many match in all (at most {@link COUNTED} + 1). */
export async function listDeliveries(
  pool: Pool,
  project: string,
  filter: Filter,
  page: Page & { after: Place | null },
): Promise<{ rows: DeliveryRow[]; hasMore: boolean; matches: number }> {
  const matching = where(project, filter);
  const counted = await pool.query<{ matches: number }>(
    `select count(*) as matches from (select from webhooks.deliveries d where ${matching.sql} limit ${COUNTED + 1}) counted`,
    matching.values,
  );
  const paged =
    page.after === null
      ? matching
      : matching.and((p) => `(d.created_at, d.id) < (${p(timeOf(page.after?.at ?? ''))}, ${p(uuidOf(page.after?.id ?? ''))})`);
  const { rows } = await pool.query<DeliveryRow>(
    `select ${COLUMNS} from ${TABLES} where ${paged.sql} order by d.created_at desc, d.id desc limit ${page.limit + 1} offset ${page.offset}`,
    paged.values,
  );
  return { rows: rows.slice(0, page.limit), hasMore: rows.length > page.limit, matches: counted.rows[0]?.matches ?? 0 };
}

export async function readDelivery(
  pool: Pool,
  project: string,
  id: string,
): Promise<{ row: DeliveryRow & { body: string | null }; attempts: AttemptRow[] } | null> {
  if (!isId('whd', id)) return null;
  const { rows } = await pool.query<DeliveryRow & { body: string | null }>(
    `select ${COLUMNS}, d.body from ${TABLES} where d.project = $1 and d.id = $2`,
    [uuidOf(project), uuidOf(id)],
  );
  const [row] = rows;
  if (!row) return null;
  const attempts = await pool.query<AttemptRow>(
    `select number, started_at, stage, outcome, status_code, latency_ms, error, response_preview, next_attempt_at
     from webhooks.attempts where delivery = $1 and outcome is not null order by number`,
    [row.id],
  );
  return { row, attempts: attempts.rows };
}

/** A dead letter as a replay needs it. */
export interface DeadLetter {
  id: string;
  review: string;
  event_type: string;
}

/** Dead letters of a project that can be sent again, in the order they were first sent, after the one the last page ended with. */
export async function deadLetters(
  pool: Pool,
  project: string,
  filter: Filter,
  page: { limit: number; after: number; until: Date },
): Promise<(DeadLetter & { sequence: number })[]> {
  const matching = where(project, { ...filter, status: 'failed' }).and(
    (p) => `d.review is not null and d.body is not null and d.sequence > ${p(page.after)} and d.settled_at <= ${p(page.until)}`,
  );
  const { rows } = await pool.query<DeadLetter & { sequence: number }>(
    `select d.id, d.review, d.event_type, d.sequence from webhooks.deliveries d where ${matching.sql} order by d.sequence limit ${page.limit}`,
    matching.values,
  );
  return rows;
}

interface Condition {
  sql: string;
  values: unknown[];
  /** With one more; `p` takes a value and gives its parameter. */
  and(more: (p: (value: unknown) => string) => string): Condition;
}

function condition(sql: string, values: unknown[]): Condition {
  return {
    sql,
    values,
    and(more) {
      const all = [...values];
      const added = more((value) => `$${all.push(value)}`);
      return condition(`${sql} and ${added}`, all);
    },
  };
}

/** A leap second, which the format allows, is read as the second before it. */
function timeOf(text: string): Date {
  return new Date(text.replace(/:60(?=[.Zz+-])/, ':59'));
}

/** An id that is none matches nothing, as one that does not exist. */
function where(project: string, filter: Filter): Condition {
  const ids = filter.ids?.filter((id) => isId('whd', id)).map(uuidOf);
  const { review_id, status, event_type, from, to } = filter;
  let matching = condition('d.project = $1', [uuidOf(project)]);
  if (review_id !== undefined) {
    matching = isId('rev', review_id) ? matching.and((p) => `d.review = ${p(uuidOf(review_id))}`) : matching.and(() => 'false');
  }
  if (status !== undefined) matching = matching.and((p) => `d.status = ${p(storedStatus(status))}`);
  if (event_type !== undefined && event_type.length > 0) matching = matching.and((p) => `d.event_type = any(${p(event_type)})`);
  if (from !== undefined) matching = matching.and((p) => `d.created_at >= ${p(timeOf(from))}`);
  if (to !== undefined) matching = matching.and((p) => `d.created_at < ${p(timeOf(to))}`);
  if (ids !== undefined) matching = matching.and((p) => `d.id = any(${p(ids)}::uuid[])`);
  return matching;
}
