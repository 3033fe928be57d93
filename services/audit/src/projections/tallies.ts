/** Read model: how many reviews of each kind there are, and how many of each template were requested on each day. */
import type { ReviewState } from '@countersign/review';
import type { PoolClient } from 'pg';
import type { TallyRow } from '../entities.js';

export interface Tally extends TallyRow {
  /** Day of the request, in UTC. */
  day: string;
}

/** What a review in this state adds to (`sign` 1) or takes from (-1) the tallies. */
export function tallyOf(state: ReviewState | undefined, sign: 1 | -1): Tally[] {
  if (state === undefined || state.status === 'none') return [];
  const outcome = 'outcome' in state && state.outcome.kind === 'decided' ? state.outcome : null;
  const took = outcome ? Date.parse(outcome.decided_at) - Date.parse(state.created_at) : 0;
  return [
    {
      project: state.project_id,
      template: state.template.id,
      template_slug: state.template.slug,
      status: state.status,
      priority: state.priority,
      assignee: state.assignee ?? '',
      outcome: outcome?.decision ?? '',
      decided_by: outcome?.decided_by.kind ?? '',
      count: sign,
      decision_ms: sign * took,
      day: state.created_at.slice(0, 10),
    },
  ];
}

const KEY = ['project', 'template', 'template_slug', 'status', 'priority', 'assignee', 'outcome', 'decided_by'] as const;

/** Sums by key, without what comes to nothing; in one order for all, so that two members of a group do not deadlock. */
function summed<K extends string>(moved: Tally[], key: (tally: Tally) => K): [K, Tally][] {
  const sums = new Map<K, Tally>();
  for (const tally of moved) {
    const sum = sums.get(key(tally));
    if (sum) {
      sum.count += tally.count;
      sum.decision_ms += tally.decision_ms;
    } else sums.set(key(tally), { ...tally });
  }
  return [...sums].filter(([, t]) => t.count !== 0 || t.decision_ms !== 0).sort(([a], [b]) => (a < b ? -1 : 1));
}

export async function applyTallies(tx: PoolClient, moved: Tally[], schema: string): Promise<void> {
  const tallies = summed(moved, (t) => JSON.stringify(KEY.map((k) => t[k]))).map(([, t]) => t);
  if (tallies.length > 0) {
    await tx.query(
      `insert into ${schema}.tallies (${KEY.join(', ')}, count, decision_ms)
       select * from unnest(${KEY.map((_, i) => `$${i + 1}::text[]`).join(', ')}, $9::bigint[], $10::bigint[])
       on conflict (${KEY.join(', ')}) do update
       set count = tallies.count + excluded.count, decision_ms = tallies.decision_ms + excluded.decision_ms`,
      [...KEY.map((k) => tallies.map((t) => t[k])), tallies.map((t) => t.count), tallies.map((t) => t.decision_ms)],
    );
    // What counts nothing names nobody: a row may hold the address of a person whose reviews were erased.
    const left = tallies.filter((t) => t.count < 0);
    if (left.length > 0)
      await tx.query(
        `delete from ${schema}.tallies t using unnest(${KEY.map((_, i) => `$${i + 1}::text[]`).join(', ')}) as left_by (${KEY.join(', ')})
       where t.count = 0 and ${KEY.map((k) => `t.${k} = left_by.${k}`).join(' and ')}`,
        KEY.map((k) => left.map((t) => t[k])),
      );
  }
  const days = summed(moved, (t) => JSON.stringify([t.project, t.day, t.template])).map(([, t]) => t);
  if (days.length > 0) {
    const key = (of: Tally[]) => [of.map((t) => t.project), of.map((t) => t.day), of.map((t) => t.template)];
    await tx.query(
      `insert into ${schema}.days (project, day, template, count) select * from unnest($1::text[], $2::date[], $3::text[], $4::bigint[])
       on conflict (project, day, template) do update set count = days.count + excluded.count`,
      [...key(days), days.map((t) => t.count)],
    );
    const fewer = days.filter((t) => t.count < 0);
    if (fewer.length > 0)
      await tx.query(
        `delete from ${schema}.days d using unnest($1::text[], $2::date[], $3::text[]) as left_by (project, day, template)
       where d.count = 0 and d.project = left_by.project and d.day = left_by.day and d.template = left_by.template`,
        key(fewer),
      );
  }
}
