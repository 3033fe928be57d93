import type { PersonActor } from '@countersign/contracts';
import { idOf, isId, newId, uuidOf } from '@countersign/event-store';
import type { Pool, PoolClient } from 'pg';
import { newToken, tokenHash } from '../credentials/tokens.js';
import type { Client } from './client.js';

/**
 * Sessions (HRP §10): opaque tokens, hashed in the table, none of it in the log (decision K1).
 *
 * S1 a session ends 7 days after it began, or when 24 hours passed without use, or when it is revoked;
 * S2 a session belongs to the password it was opened under: the event that changes the password ends it, with no second write;
 * S3 time is the database's.
 */
export const SESSION_SECONDS = 7 * 24 * 3600;
export const SESSION_IDLE_SECONDS = 24 * 3600;

export interface OpenedSession {
  id: string;
  token: string;
  method: PersonActor['auth']['method'];
  recovery: boolean;
  expiresAt: string;
}

export async function openSession(
  db: Pool | PoolClient,
  session: {
    person: string;
    passwordFingerprint: string | null;
    method: PersonActor['auth']['method'];
    recovery: boolean;
    client: Client;
  },
): Promise<OpenedSession> {
  const { person, passwordFingerprint, method, recovery, client } = session;
  const id = newId('ses');
  const token = newToken('cst_');
  const { rows } = await db.query<{ expires_at: Date }>(
    `with opened as (
       insert into directory.sessions
         (id, token_hash, person, password_fingerprint, method, recovery, ip, user_agent, created_at, last_used_at, expires_at)
       select $1, $2, $3, $4, $5, $6, $7, $8, now, now, now + make_interval(secs => $9)
         from (select event_store.now() as now offset 0) clock
       returning person, created_at, expires_at),
     seen as (
       insert into directory.person_sign_ins as row (person, last_sign_in_at) select person, created_at from opened
       on conflict (person) do update set last_sign_in_at = greatest(row.last_sign_in_at, excluded.last_sign_in_at))
     select expires_at from opened`,
    [
      uuidOf(id),
      tokenHash(token),
      uuidOf(person),
      passwordFingerprint,
      method,
      recovery,
      client.ip,
      client.userAgent?.slice(0, 256) ?? null,
      SESSION_SECONDS,
    ],
  );
  return { id, token, method, recovery, expiresAt: rows[0]?.expires_at.toISOString() ?? '' };
}

export interface ListedSession {
  id: string;
  method: PersonActor['auth']['method'];
  /** Opened by a recovery link. */
  recovery: boolean;
  userAgent: string | null;
  ip: string | null;
  createdAt: string;
  lastUsedAt: string;
  expiresAt: string;
}

/** Sessions of a person that are open now, the last used first. */
export async function sessionsOf(pool: Pool, person: string): Promise<ListedSession[]> {
  const { rows } = await pool.query(
    `select s.* from directory.sessions s
       join directory.persons p on p.id = s.person and p.password_fingerprint is not distinct from s.password_fingerprint
       cross join lateral (select event_store.now() as at) clock
      where s.person = $1 and s.revoked_at is null and s.expires_at > clock.at and s.last_used_at > clock.at - make_interval(secs => $2)
      order by s.last_used_at desc, s.id`,
    [uuidOf(person), SESSION_IDLE_SECONDS],
  );
  return rows.map((row) => ({
    id: idOf('ses', row.id),
    method: row.method,
    recovery: row.recovery,
    userAgent: row.user_agent,
    ip: row.ip,
    createdAt: row.created_at.toISOString(),
    lastUsedAt: row.last_used_at.toISOString(),
    expiresAt: row.expires_at.toISOString(),
  }));
}

/** How long after a recovery link was used its session may set a password without the old one. */
const RECOVERY_SECONDS = 3600;

export async function mayRecover(pool: Pool, session: string): Promise<boolean> {
  const { rows } = await pool.query(
    `select 1 from directory.sessions where id = $1 and recovery and revoked_at is null
        and created_at > event_store.now() - make_interval(secs => $2)`,
    [uuidOf(session), RECOVERY_SECONDS],
  );
  return rows.length === 1;
}

/** Ends a session of a person. True also when it had ended before; false when the person never had it. */
export async function revokeSession(pool: Pool, person: string, session: string): Promise<boolean> {
  if (!isId('ses', session)) return false;
  const { rowCount } = await pool.query(
    'update directory.sessions set revoked_at = coalesce(revoked_at, event_store.now()) where id = $1 and person = $2',
    [uuidOf(session), uuidOf(person)],
  );
  return rowCount === 1;
}

/** Ends all open sessions of a person but the named one. @returns how many ended. */
export async function revokeSessions(pool: Pool, person: string, keep: string | null): Promise<number> {
  const open = (await sessionsOf(pool, person)).map((session) => session.id).filter((id) => id !== keep);
  const { rowCount } = await pool.query(
    'update directory.sessions set revoked_at = event_store.now() where person = $1 and revoked_at is null and id is distinct from $2',
    [uuidOf(person), keep === null ? null : uuidOf(keep)],
  );
  return Math.min(open.length, rowCount ?? 0);
}
