import { inTransaction } from '@countersign/database';
import { uuidOf } from '@countersign/event-store';
import type { Pool, PoolClient } from 'pg';
import type { ApiKey } from '../key/key.js';
import type { Person } from '../person/person.js';
import type { Project } from '../project/project.js';

/**
 * Writes what a stream says into its look-up rows.
 *
 * L1 a row never goes back: an older version of the stream does not replace a newer one, whoever saves last;
 * L2 everything one stream says is saved in one transaction together with the version it was said at;
 * L3 what is gone stays gone.
 */
export async function saveProject(pool: Pool, id: string, state: Project, version: number): Promise<void> {
  if (state.status === 'none') return;
  const project = uuidOf(id);
  if (state.status === 'erased') {
    await inTransaction(pool, async (tx) => {
      await tx.query('delete from directory.projects where id = $1', [project]);
      await tx.query('delete from directory.memberships where project = $1', [project]);
      await tx.query('delete from directory.joining where project = $1', [project]);
      await markGone(tx, project, version);
    });
    return;
  }
  await inTransaction(pool, async (tx) => {
    const saved = await tx.query(
      `insert into directory.projects as row (id, version, name, slug, description, created_at, updated_at)
       values ($1, $2, $3, $4, $5, $6, $7)
       on conflict (id) do update set version = excluded.version, name = excluded.name, slug = excluded.slug,
         description = excluded.description, updated_at = excluded.updated_at
       where row.version <= excluded.version`,
      [project, version, state.name, state.slug, state.description, state.createdAt, state.updatedAt],
    );
    if (saved.rowCount === 0) return;
    const members = Object.entries(state.members);
    const persons = members.map(([person]) => uuidOf(person));
    await tx.query('delete from directory.memberships where project = $1 and not person = any($2::uuid[])', [project, persons]);
    await tx.query(
      `insert into directory.memberships (person, project, role, since)
       select person, $1, role, since from unnest($2::uuid[], $3::text[], $4::timestamptz[]) as m (person, role, since)
       on conflict (person, project) do update set role = excluded.role, since = excluded.since`,
      [project, persons, members.map(([, m]) => m.role), members.map(([, m]) => m.since)],
    );
    await tx.query('delete from directory.joining where project = $1 and person = any($2::uuid[])', [project, persons]);
  });
}

export async function savePerson(pool: Pool, id: string, state: Person, version: number): Promise<void> {
  if (state.status === 'none') return;
  const person = uuidOf(id);
  if (state.status === 'erased') {
    await inTransaction(pool, async (tx) => {
      await tx.query('delete from directory.persons where id = $1', [person]);
      for (const table of ['passwords', 'sessions', 'sign_in_links', 'known_devices', 'person_sign_ins']) {
        await tx.query(`delete from directory.${table} where person = $1`, [person]);
      }
      await markGone(tx, person, version);
    });
    return;
  }
  await pool.query(
    `insert into directory.persons as row (id, version, email, name, password_fingerprint, password_is_temporary, created_at)
     select $1, $2, $3, $4, $5, $6, $7 where not exists (select from directory.gone where stream = $1)
     on conflict (id) do update set version = excluded.version, email = excluded.email, name = excluded.name,
       password_fingerprint = excluded.password_fingerprint, password_is_temporary = excluded.password_is_temporary
     where row.version <= excluded.version`,
    [person, version, state.email, state.name, state.passwordFingerprint, state.passwordIsTemporary, state.registeredAt],
  );
}

export async function saveKey(pool: Pool, id: string, state: ApiKey, version: number): Promise<void> {
  if (state.status === 'none') return;
  const key = uuidOf(id);
  if (state.status === 'deleted') {
    await inTransaction(pool, async (tx) => {
      await tx.query('delete from directory.api_keys where id = $1', [key]);
      await tx.query('delete from directory.key_credentials where key = $1', [key]);
      await tx.query('delete from directory.key_uses where key = $1', [key]);
      await markGone(tx, key, version);
    });
    return;
  }
  const personUuid = (person: string | null) => (person === null ? null : uuidOf(person));
  await pool.query(
    `insert into directory.api_keys as row (id, version, project, status, fingerprint, prefix, name, description, scopes, template_ids,
       owner, contact, default_reviewer, rate_limit_per_hour, ip_allowlist, expires_at, created_at, updated_at, former_owners)
     select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19
      where not exists (select from directory.gone where stream = $1)
     on conflict (id) do update set version = excluded.version, status = excluded.status, fingerprint = excluded.fingerprint,
       prefix = excluded.prefix, name = excluded.name, description = excluded.description, scopes = excluded.scopes,
       template_ids = excluded.template_ids, owner = excluded.owner, contact = excluded.contact,
       default_reviewer = excluded.default_reviewer, rate_limit_per_hour = excluded.rate_limit_per_hour,
       ip_allowlist = excluded.ip_allowlist, expires_at = excluded.expires_at, updated_at = excluded.updated_at,
       former_owners = excluded.former_owners
     where row.version <= excluded.version`,
    [
      key,
      version,
      uuidOf(state.project),
      state.status,
      state.fingerprint,
      state.prefix,
      state.name,
      state.description,
      state.scopes,
      state.template_ids,
      personUuid(state.owner),
      personUuid(state.contact),
      personUuid(state.default_reviewer),
      state.rate_limit_per_hour,
      state.ip_allowlist,
      state.expires_at,
      state.createdAt,
      state.updatedAt,
      state.formerOwners.map(uuidOf),
    ],
  );
}

async function markGone(tx: PoolClient, stream: string, version: number): Promise<void> {
  await tx.query(
    `insert into directory.gone as row (stream, version) values ($1, $2)
     on conflict (stream) do update set version = greatest(row.version, excluded.version)`,
    [stream, version],
  );
}
