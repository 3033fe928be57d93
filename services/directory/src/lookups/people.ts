import type { Role } from '@countersign/contracts';
import { idOf, isId, uuidOf } from '@countersign/event-store';
import type { DirectoryDeps } from '../deps.js';
import { emailKey } from '../person/email.js';
import { catchUp } from './catch-up.js';

/** Questions about people. Each reads the streams' versions along and catches up first where a row is behind. */
type Deps = Pick<DirectoryDeps, 'store' | 'pool'>;

export interface FoundPerson {
  id: string;
  email: string;
  name: string;
  passwordFingerprint: string | null;
  passwordIsTemporary: boolean;
  createdAt: string;
}

interface PersonRow {
  stream: string;
  email: string | null;
  name: string;
  password_fingerprint: string | null;
  password_is_temporary: boolean;
  created_at: Date;
  behind: boolean;
}

const PERSON = `s.stream, p.email, p.name, p.password_fingerprint, p.password_is_temporary, p.created_at,
       s.version is distinct from coalesce(p.version, g.version) as behind
  from event_store.streams s
  left join directory.persons p on p.id = s.stream
  left join directory.gone g on g.stream = s.stream`;

/** By id; people who do not exist or were erased are absent. */
export async function findPersons(deps: Deps, ids: readonly string[]): Promise<Map<string, FoundPerson>> {
  const rows = await current(deps, `select ${PERSON} where s.stream = any($1::uuid[]) and s.category = 'person'`, [ids.map(uuidOf)]);
  return new Map(rows.map((row) => [row.id, row]));
}

/** By e-mail address, whatever its case; null when nobody has it. */
export async function findPersonByEmail(deps: Deps, email: string): Promise<FoundPerson | null> {
  const [row] = await current(
    deps,
    `select ${PERSON} join event_store.reservations r on r.stream = s.stream where r.key = $1 and s.category = 'person'`,
    [emailKey(email)],
  );
  return row ?? null;
}

async function current(deps: Deps, sql: string, values: unknown[]): Promise<FoundPerson[]> {
  const { rows } = await deps.pool.query<PersonRow>(sql, values);
  const behind = rows.filter((row) => row.behind).map((row) => idOf('per', row.stream));
  if (behind.length > 0) {
    await catchUp(deps, behind);
    return (await deps.pool.query<PersonRow>(sql, values)).rows.flatMap(found);
  }
  return rows.flatMap(found);
}

function found(row: PersonRow): FoundPerson[] {
  if (row.email === null) return [];
  return [
    {
      id: idOf('per', row.stream),
      email: row.email,
      name: row.name,
      passwordFingerprint: row.password_fingerprint,
      passwordIsTemporary: row.password_is_temporary,
      createdAt: row.created_at.toISOString(),
    },
  ];
}

export interface Membership {
  project: string;
  projectName: string;
  role: Role;
}

/** The projects a person is in, the oldest membership first. */
export async function membershipsOf(deps: Deps, person: string): Promise<Membership[]> {
  const read = async () => {
    const { rows } = await deps.pool.query<{ project: string; name: string; role: Role | null; behind: boolean }>(
      `select c.project, j.name, m.role, s.version is distinct from j.version as behind
         from (select project from directory.memberships where person = $1
               union select project from directory.joining where person = $1) c
         left join directory.memberships m on m.person = $1 and m.project = c.project
         left join directory.projects j on j.id = c.project
         left join event_store.streams s on s.stream = c.project
        order by m.since, c.project`,
      [uuidOf(person)],
    );
    return rows;
  };
  let rows = await read();
  const behind = rows.filter((row) => row.behind).map((row) => idOf('prj', row.project));
  if (behind.length > 0) {
    await catchUp(deps, behind);
    rows = await read();
  }
  return rows.flatMap(({ project, name, role }) => (role === null ? [] : [{ project: idOf('prj', project), projectName: name, role }]));
}

export interface ProjectPerson extends FoundPerson {
  role: Role;
}

/** Everybody who is in a project now. */
export async function peopleOf(deps: Deps, project: string): Promise<ProjectPerson[]> {
  const read = async () => {
    const { rows } = await deps.pool.query<{ person: string; role: Role; behind: boolean }>(
      `select m.person, m.role, s.version is distinct from j.version as behind
         from event_store.streams s
         left join directory.projects j on j.id = s.stream
         left join directory.memberships m on m.project = s.stream
        where s.stream = $1 and s.category = 'project' order by m.since, m.person`,
      [uuidOf(project)],
    );
    return rows;
  };
  let rows = await read();
  if (rows.some((row) => row.behind)) {
    await catchUp(deps, [project]);
    rows = await read();
  }
  const members = rows.filter((row) => row.person !== null).map((row) => ({ id: idOf('per', row.person), role: row.role }));
  const persons = await findPersons(
    deps,
    members.map((member) => member.id),
  );
  return members.flatMap(({ id, role }) => {
    const person = persons.get(id);
    return person ? [{ ...person, role }] : [];
  });
}

/** Somebody of a project by id or e-mail address; null for anybody else, in the same words whether they exist elsewhere or not. */
export async function findMember(deps: Deps, project: string, idOrEmail: string): Promise<ProjectPerson | null> {
  const person = isId('per', idOrEmail) ? (await findPersons(deps, [idOrEmail])).get(idOrEmail) : await findPersonByEmail(deps, idOrEmail);
  if (!person) return null;
  const membership = (await membershipsOf(deps, person.id)).find((candidate) => candidate.project === project);
  return membership ? { ...person, role: membership.role } : null;
}
