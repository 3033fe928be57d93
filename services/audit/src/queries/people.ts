/** Whose accounts concern a project: HRP §9 shows it every row of no project, which would be other projects' people too (decision 15). */
import type { Pool } from 'pg';

/** People who have or had a role in a project, and up to where their account's events are its business. */
export interface ProjectPeople {
  people: string[];
  /** Position of the end of each one's role; the last there can be while they have one. */
  until: number[];
}

/** As the project's own part of the log says, so that there is nothing to keep and nothing to rebuild. */
export async function peopleOf(pool: Pool, project: string): Promise<ProjectPeople> {
  const { rows } = await pool.query<{ person: string; until: number | null }>(
    `select distinct on (m.person) m.person, case when l.action = 'membership.ended' then l.position::float8 end as until
     from audit.log l
     join event_store.events e on e.shard = 0 and e.position = l.position
     cross join lateral (select e.body::json ->> 'person_id' as person) m
     where l.project = $1 and l.action in ('membership.granted', 'membership.ended') and e.body is not null
     order by m.person, l.position desc`,
    [project],
  );
  return { people: rows.map((row) => row.person), until: rows.map((row) => row.until ?? Number.MAX_SAFE_INTEGER) };
}
