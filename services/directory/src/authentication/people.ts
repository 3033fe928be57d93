import type { PersonActor, Role } from '@countersign/contracts';
import { idOf, isId, uuidOf } from '@countersign/event-store';
import { tokenHash } from '../credentials/tokens.js';
import type { DirectoryDeps } from '../deps.js';
import { catchUp } from '../lookups/catch-up.js';
import { SESSION_IDLE_SECONDS } from '../sign-in/sessions.js';

/**
 * Who holds a session, in one indexed query: token → session → person → memberships, each with the version of its stream. Nothing else
 * is asked unless a row is behind its stream, or the minute in which the session was last seen is over.
 */
type Deps = Pick<DirectoryDeps, 'store' | 'pool'>;

interface FoundSession {
  session: string;
  person: string;
  email: string | null;
  name: string;
  method: PersonActor['auth']['method'];
  created_at: Date;
  open: boolean;
  touch: boolean;
  behind: boolean;
  /** The oldest membership first, those about to join last and without a role; null when there is none. */
  memberships: { project: string; role: Role | null; behind: boolean }[] | null;
}

const QUERY = `
  select s.id as session, s.person, p.email, p.name, s.method, s.created_at,
         s.revoked_at is null and s.expires_at > clock.at and s.last_used_at > clock.at - make_interval(secs => $2)
           and p.password_fingerprint is not distinct from s.password_fingerprint as open,
         s.last_used_at < clock.at - interval '1 minute' as touch,
         ps.version is distinct from coalesce(g.version, p.version) as behind,
         (select json_agg(json_build_object('project', c.project, 'role', m.role, 'behind', js.version is distinct from j.version)
                          order by m.since, c.project)
            from (select project from directory.memberships where person = s.person
                  union select project from directory.joining where person = s.person) c
            left join directory.memberships m on m.person = s.person and m.project = c.project
            left join directory.projects j on j.id = c.project
            left join event_store.streams js on js.stream = c.project) as memberships
    from directory.sessions s
    cross join lateral (select event_store.now() as at) clock
    left join directory.persons p on p.id = s.person
    left join directory.gone g on g.stream = s.person
    left join event_store.streams ps on ps.stream = s.person`;

// Prepared: each request of a person begins with one, and planning costs more than running it.
const BY_TOKEN = { name: 'directory.session_by_token', text: `${QUERY} where s.token_hash = $1` };
const BY_ID = { name: 'directory.sessions_by_id', text: `${QUERY} where s.id = any($1::uuid[])` };

async function upToDate(deps: Deps, query: { name: string; text: string }, values: unknown[]): Promise<FoundSession[]> {
  let { rows } = await deps.pool.query<FoundSession>({ ...query, values });
  const behind = rows.flatMap((row) => [
    ...(row.behind ? [idOf('per', row.person)] : []),
    ...(row.memberships ?? []).filter((m) => m.behind).map((m) => idOf('prj', m.project)),
  ]);
  if (behind.length > 0) {
    await catchUp(deps, behind);
    ({ rows } = await deps.pool.query<FoundSession>({ ...query, values }));
  }
  return rows;
}

export async function authenticateSession(
  deps: Deps,
  token: string,
  projectId: string | undefined,
): Promise<PersonActor | 'invalid_token' | 'forbidden'> {
  const [row] = await upToDate(deps, BY_TOKEN, [tokenHash(token), SESSION_IDLE_SECONDS]);
  const actor = row && actorOf(row);
  if (!actor) return 'invalid_token';
  if (row.touch) await touch(deps, row.session);
  if (projectId === undefined) return actor;
  return Object.hasOwn(actor.roles, projectId) ? { ...actor, project_id: projectId } : 'forbidden';
}

/** The sessions of a list that are open now. */
export async function openSessions(deps: Deps, ids: readonly string[]): Promise<PersonActor[]> {
  const uuids = ids.filter((id) => isId('ses', id)).map(uuidOf);
  const rows = await upToDate(deps, BY_ID, [uuids, SESSION_IDLE_SECONDS]);
  return rows.flatMap((row) => actorOf(row) ?? []);
}

/** The actor, or null when the session is over or its person is gone or in no project. */
function actorOf(row: FoundSession): PersonActor | null {
  const memberships = (row.memberships ?? []).flatMap(({ project, role }) =>
    role === null ? [] : [{ project: idOf('prj', project), role }],
  );
  const [first] = memberships;
  if (!row.open || row.email === null || !first) return null;
  return {
    kind: 'person',
    person_id: idOf('per', row.person),
    email: row.email,
    name: row.name,
    project_id: first.project,
    roles: Object.fromEntries(memberships.map((membership) => [membership.project, membership.role])),
    session_id: idOf('ses', row.session),
    auth: { method: row.method, at: row.created_at.toISOString() },
  };
}

/** At most once a minute for each session; an ended one stays ended. */
async function touch(deps: Deps, session: string): Promise<void> {
  await deps.pool.query(
    `update directory.sessions set last_used_at = event_store.now()
      where id = $1 and revoked_at is null and last_used_at < event_store.now() - interval '1 minute'`,
    [session],
  );
}
