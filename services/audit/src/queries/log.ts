/** The audit log (HRP §9): rows of the read model, their details read from the event store as they are now. */
import type { AuditEvent, AuditQuery } from '@countersign/contracts';
import { INSTALLATION_PROJECT, idOf } from '@countersign/event-store';
import { readJson } from '@countersign/evidence';
import { decodeCursor, encodeCursor, type Page } from '@countersign/http';
import type { Pool } from 'pg';
import type { DataSource, SelectQueryBuilder } from 'typeorm';
import { type LogRow, LogRows } from '../entities.js';
import { type ProjectPeople, peopleOf } from './people.js';

export type LogFilter = Pick<AuditQuery, 'action' | 'resource_type' | 'resource_id' | 'actor' | 'from' | 'to'>;

export interface LogPage {
  events: AuditEvent[];
  total: number;
  capped: boolean;
  hasMore: boolean;
  nextCursor?: string;
}

/** Version of what `signature` is: the event's hash over the header of decisions K3. */
const SIGNATURE_VERSION = 4;

/** Where counting stops for combinations that no counter holds (decision 14). */
const COUNTED = 10_000;

/** What a project sees: its own rows, and the installation's about its people. */
interface Seen extends ProjectPeople {
  project: string;
}

const seenBy = async (pool: Pool, project: string): Promise<Seen> => ({ project, ...(await peopleOf(pool, project)) });

const SEEN = `(row.project = :project or (row.project = :installation and row.resource_id = any (:people) and exists
  (select 1 from unnest(:people::text[], :until::bigint[]) person (id, until) where person.id = row.resource_id and row.position < person.until)))`;

function filtered(db: DataSource, seen: Seen, filter: LogFilter): SelectQueryBuilder<LogRow> {
  const { action, resource_type, resource_id, actor, from, to } = filter;
  const query = db
    .getRepository(LogRows)
    .createQueryBuilder('row')
    .where(SEEN, { ...seen, installation: INSTALLATION_PROJECT });
  if (action?.length) query.andWhere('row.action in (:...action)', { action });
  if (resource_type !== undefined) query.andWhere('row.resource_type = :resource_type', { resource_type });
  if (resource_id !== undefined) query.andWhere('row.resource_id = :resource_id', { resource_id });
  if (actor !== undefined) query.andWhere('row.actor = :actor', { actor });
  if (from !== undefined) query.andWhere('row.time >= :from', { from });
  if (to !== undefined) query.andWhere('row.time < :to', { to });
  return query;
}

const isPosition = (value: unknown): value is number => typeof value === 'number' && Number.isSafeInteger(value);

/** Newest first. @throws {Problem} `invalid_cursor`. */
export async function listLog(db: DataSource, pool: Pool, project: string, filter: LogFilter, page: Page): Promise<LogPage> {
  const seen = await seenBy(pool, project);
  const query = filtered(db, seen, filter)
    .orderBy('row.position', 'DESC')
    .limit(page.limit + 1)
    .offset(page.offset);
  if (page.cursor !== undefined) query.andWhere('row.position < :place', { place: decodeCursor(page.cursor, isPosition) });
  const [sql, parameters] = filtered(db, seen, filter)
    .select('row.position')
    .limit(COUNTED + 1)
    .getQueryAndParameters();
  const [rows, counted] = await Promise.all([
    query.getMany(),
    db.query<{ count: string }[]>(`select count(*) from (${sql}) matches`, parameters as unknown[]),
  ]);
  const total = Number(counted[0]?.count ?? 0);
  const shown = rows.slice(0, page.limit).map((row) => row.position);
  const hasMore = rows.length > page.limit;
  return {
    events: await withDetails(pool, shown),
    total: Math.min(total, COUNTED),
    capped: total > COUNTED,
    hasMore,
    ...(hasMore ? { nextCursor: encodeCursor(shown.at(-1)) } : {}),
  };
}

/** Oldest first, a page at a time, each read in a transaction of its own (K23). */
export async function* exportLog(
  db: DataSource,
  pool: Pool,
  project: string,
  filter: LogFilter & { first?: number; last?: number },
): AsyncGenerator<AuditEvent[]> {
  const { first = 1, last = Number.MAX_SAFE_INTEGER } = filter;
  const seen = await seenBy(pool, project);
  for (let after = first - 1; ; ) {
    const rows = await filtered(db, seen, filter)
      .andWhere('row.position > :after', { after })
      .andWhere('row.position <= :last', { last })
      .orderBy('row.position', 'ASC')
      .limit(500)
      .getMany();
    const newest = rows.at(-1);
    if (!newest) return;
    yield await withDetails(
      pool,
      rows.map((row) => row.position),
    );
    after = newest.position;
  }
}

/** Whether a project may be told of a stream by its name: whether its log shows anything of it. */
export async function showsStream(db: DataSource, pool: Pool, project: string, stream: string): Promise<boolean> {
  return filtered(db, await seenBy(pool, project), { resource_id: stream }).getExists();
}

interface EventRow {
  position: number;
  id: string;
  stream: string;
  category: string;
  project: string;
  type: string;
  time: Date;
  body: string | null;
  actor: string;
  resource_id: string;
  hash: Buffer;
  previous: Buffer | null;
}

/** In the order of the positions. The signature of an event is its hash; the one before it is the hash before it in its stream. */
async function withDetails(pool: Pool, positions: readonly number[]): Promise<AuditEvent[]> {
  const { rows } = await pool.query<EventRow>(
    `select e.position, e.id, e.project, e.category, e.type, e.time, e.body, l.actor, l.resource_id, e.hash, p.hash as previous
     from unnest($1::bigint[]) with ordinality wanted (position, place)
     join audit.log l using (position)
     join event_store.events e on e.shard = 0 and e.position = wanted.position
     left join event_store.events p on p.stream = e.stream and p.version = e.version - 1
     order by wanted.place`,
    [positions],
  );
  return rows.map((row) => {
    const project = idOf('prj', row.project);
    return {
      object: 'audit_event',
      id: idOf('evt', row.id),
      position: Number(row.position),
      action: row.type,
      actor: row.actor,
      resource_type: row.category,
      resource_id: row.resource_id,
      details: row.body === null ? {} : (readJson(row.body) as Record<string, unknown>),
      redacted: row.body === null,
      signature: row.hash.toString('hex'),
      prev_signature: row.previous?.toString('hex') ?? null,
      signature_version: SIGNATURE_VERSION,
      project_id: project === INSTALLATION_PROJECT ? null : project,
      created_at: row.time.toISOString(),
    };
  });
}
