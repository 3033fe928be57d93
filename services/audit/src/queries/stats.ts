/** Counts (HRP §1.3, §1.4), all of them sums over the tallies. */
import type { Stats, TemplateStats } from '@countersign/contracts';
import type { Pool } from 'pg';

interface Sum {
  template: string;
  template_slug: string;
  status: string;
  outcome: string;
  decided_by: string;
  count: number;
  decision_ms: number;
}

async function sums(pool: Pool, project: string, templates: readonly string[] | null): Promise<Sum[]> {
  const { rows } = await pool.query<Sum>(
    `select template, template_slug, status, outcome, decided_by, sum(count)::float8 as count, sum(decision_ms)::float8 as decision_ms
     from audit.tallies where project = $1 and ($2::text[] is null or template = any ($2))
     group by template, template_slug, status, outcome, decided_by`,
    [project, templates],
  );
  return rows;
}

const total = (rows: Sum[], where: (row: Sum) => boolean = () => true): number =>
  rows.filter(where).reduce((sum, row) => sum + row.count, 0);

function countsBy(rows: Sum[], key: (row: Sum) => string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const row of rows) if (key(row) !== '') counts[key(row)] = (counts[key(row)] ?? 0) + row.count;
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
}

/** Mean milliseconds from request to decision over what people decided; null when they decided nothing. */
function meanTime(rows: Sum[]): number | null {
  const byPeople = rows.filter((row) => row.decided_by === 'person');
  const decided = total(byPeople);
  return decided === 0 ? null : byPeople.reduce((sum, row) => sum + row.decision_ms, 0) / decided;
}

const DAYS = 30;

export async function projectStats(pool: Pool, project: string, templates: readonly string[] | null): Promise<Stats> {
  const rows = await sums(pool, project, templates);
  const { rows: days } = await pool.query<{ date: string; count: number }>(
    `with today as (select (event_store.now() at time zone 'UTC')::date as day)
     select to_char(g.day, 'YYYY-MM-DD') as date, coalesce(sum(d.count), 0)::float8 as count
     from today, generate_series(today.day - ($2::int - 1), today.day, interval '1 day') g (day)
     left join audit.days d on d.project = $1 and d.day = g.day::date and ($3::text[] is null or d.template = any ($3))
     group by g.day order by g.day`,
    [project, DAYS, templates],
  );
  const mean = meanTime(rows);
  return {
    object: 'stats',
    total: total(rows),
    by_status: countsBy(rows, (row) => row.status),
    by_decision: countsBy(rows, (row) => row.outcome),
    avg_review_time_ms: mean === null ? null : Math.round(mean),
    by_template: Object.entries(countsBy(rows, (row) => row.template_slug))
      .map(([template_slug, count]) => ({ template_slug, count }))
      .sort((a, b) => b.count - a.count || (a.template_slug < b.template_slug ? -1 : 1)),
    reviews_per_day: days,
  };
}

/** Whole percents of what people decided; null when they decided nothing. */
export async function templateStats(pool: Pool, project: string, template: string): Promise<TemplateStats> {
  const rows = await sums(pool, project, [template]);
  const human = rows.filter((row) => row.decided_by === 'person');
  const decided = total(human);
  const rate = (outcome: string) => (decided === 0 ? null : Math.round((100 * total(human, (row) => row.outcome === outcome)) / decided));
  const mean = meanTime(rows);
  const approved = (row: Sum) => row.outcome === 'approved' && row.decided_by === 'system';
  return {
    object: 'stats',
    template_id: template,
    total_reviews: total(rows),
    human_decided: decided,
    auto_approved: total(rows, approved),
    vetoed: 0,
    confirmed_human: 0,
    window_elapsed: 0,
    pending_now: total(rows, (row) => row.status === 'pending'),
    waiting_now: total(rows, (row) => row.status === 'awaiting_iteration' || row.status === 'awaiting_external'),
    approval_rate: rate('approved'),
    rejection_rate: rate('rejected'),
    edit_rate: rate('edited'),
    avg_decision_minutes: mean === null ? null : Math.round(mean / 600) / 100,
  };
}
