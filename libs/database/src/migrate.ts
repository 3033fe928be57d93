/**
 * Numbered, forward-only SQL migrations.
 *
 * M1 One process migrates at a time: an advisory lock is held from reading what was applied to the last commit, so any number may start at once.
 * M2 A migration and the row that says so commit together; the row is inserted first, so a second runner that got past the lock stops there.
 * M3 A file that was applied is frozen: its checksum is compared at every start.
 * M4 A program older than the schema starts only when no migration it lacks is marked `-- breaking`.
 * M5 A process that may not migrate starts only on a schema that has every migration it knows.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { APP_ROLE, clientConfig } from './pool.js';
import { sqlState } from './transaction.js';

/** The migrations of one schema: `directory` holds `0001_name.sql`, `0002_name.sql`, …; the first creates the schema. */
export interface MigrationSet {
  /** Name of the schema. */
  name: string;
  directory: string;
}

export interface MigrateOptions {
  /** Told when the database is newer than this program but still fits it. A process warning when omitted. */
  warn?: (message: string) => void;
}

interface Migration {
  id: number;
  file: string;
  sql: string;
  checksum: string;
  breaking: boolean;
}

interface Applied {
  id: number;
  file: string;
  checksum: string;
  breaking: boolean;
}

/** The database cannot be used by this program as it is. The message is for an operator. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError';
}

const FILE = /^(\d{4})_[a-z0-9_]+\.sql$/;
/** Any constant will do, as long as every version of the program uses the same. */
const LOCK = 7316243871;

/**
 * Brings a database to this program's schema, as its owner: sets in the order given, each migration in its own transaction.
 *
 * Creates the role `countersign_app` when the owner may. Safe with many processes at once; the last one finds nothing to do.
 * @throws {MigrationError} newer breaking schema, changed file, gap in the numbers, role missing and not creatable.
 */
export async function migrate(ownerUrl: string, sets: readonly MigrationSet[], options: MigrateOptions = {}): Promise<void> {
  const known = await Promise.all(sets.map(async (set) => ({ set, migrations: await readMigrations(set) })));
  const client = new pg.Client(clientConfig({ connectionString: ownerUrl, applicationName: 'countersign migrate' }));
  // A connection that breaks fails the statement under way, which says so; the event would end the process.
  client.on('error', () => {});
  await client.connect();
  try {
    await client.query('set client_min_messages = warning; set lock_timeout = 0; set idle_in_transaction_session_timeout = 0');
    await client.query('select pg_advisory_lock($1)', [LOCK]);
    await createAppRole(client);
    await client.query(`
      create schema if not exists migrations;
      create table if not exists migrations.applied (
        schema text not null, id integer not null, file text not null, checksum text not null, breaking boolean not null,
        applied_at timestamptz not null default clock_timestamp(), primary key (schema, id));
      grant usage on schema migrations to ${APP_ROLE};
      grant select on migrations.applied to ${APP_ROLE}`);
    for (const { set, migrations } of known) await bringUp(client, set, migrations, options.warn);
  } finally {
    await client.end();
  }
}

/**
 * M5, for a process under the role of the application.
 * @returns whether it may start now; false while somebody migrates.
 * @throws {MigrationError} older than these migrations, newer and breaking, or another one under the same number.
 */
export async function hasMigrations(pool: pg.Pool, sets: readonly MigrationSet[], options: MigrateOptions = {}): Promise<boolean> {
  // Asked first: what is applied after the answer, the look that follows sees.
  const { rows } = await pool.query<{ migrating: boolean }>(
    `select exists (select from pg_locks where locktype = 'advisory' and granted and database = (select oid from pg_database where datname = current_database())
                    and classid::bigint = $1::bigint >> 32 and objid::bigint = $1::bigint & 4294967295) as migrating`,
    [LOCK],
  );
  for (const set of sets) {
    const [lacking] = await lackingMigrations(pool, set, await readMigrations(set), options.warn).catch((error: unknown) => {
      // Whoever applied them did not grant a look at the list, so they are older than this check.
      if (sqlState(error) === '42501' || sqlState(error) === '42P01') return [{ file: 'any that can be seen' }];
      throw error;
    });
    if (lacking === undefined) continue;
    if (rows[0]?.migrating) return false;
    throw new MigrationError(
      `The database is older than this version (schema ${set.name} lacks ${lacking.file}): run \`countersign migrate\` as its owner first.`,
    );
  }
  return true;
}

async function bringUp(client: pg.Client, set: MigrationSet, migrations: Migration[], warn: MigrateOptions['warn']): Promise<void> {
  for (const migration of await lackingMigrations(client, set, migrations, warn)) await apply(client, set, migration);
}

/** What of `migrations` is still to be applied. @throws {MigrationError} M3, M4. */
async function lackingMigrations(
  client: pg.Client | pg.Pool,
  set: MigrationSet,
  migrations: Migration[],
  warn: MigrateOptions['warn'] = (message) => process.emitWarning(message),
): Promise<Migration[]> {
  const { rows } = await client.query<Applied>(
    'select id, file, checksum, breaking from migrations.applied where schema = $1 order by id',
    [set.name],
  );
  const applied = new Map(rows.map((row) => [row.id, row]));
  const newest = migrations.length;
  const unknown = rows.filter((row) => row.id > newest);
  const breaking = unknown.find((row) => row.breaking);
  if (breaking) {
    throw new MigrationError(
      `The database is newer than this version: schema ${set.name} has the incompatible migration ${breaking.file}. Start a version that includes it, or restore a backup taken before it was applied.`,
    );
  }
  if (unknown.length > 0) {
    warn(
      `Schema ${set.name} has ${unknown.length} migration(s) newer than this version (latest ${unknown.at(-1)?.file}). They are compatible; upgrade when convenient.`,
    );
  }
  return migrations.filter((migration) => {
    const before = applied.get(migration.id);
    if (before && before.checksum !== migration.checksum) {
      throw new MigrationError(
        `Migration ${set.name}/${migration.file} differs from the one applied to this database (${before.file}). Applied migrations must not change: restore the file and add a new one.`,
      );
    }
    return !before;
  });
}

async function apply(client: pg.Client, set: MigrationSet, migration: Migration): Promise<void> {
  await client.query('begin');
  try {
    await client.query('insert into migrations.applied (schema, id, file, checksum, breaking) values ($1, $2, $3, $4, $5)', [
      set.name,
      migration.id,
      migration.file,
      migration.checksum,
      migration.breaking,
    ]);
    await client.query(migration.sql);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback').catch(() => {});
    throw new MigrationError(`Migration ${set.name}/${migration.file} failed and was rolled back: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

async function readMigrations(set: MigrationSet): Promise<Migration[]> {
  const files = (await readdir(set.directory)).filter((file) => file.endsWith('.sql')).sort();
  return Promise.all(
    files.map(async (file, index) => {
      const id = Number(FILE.exec(file)?.[1]);
      if (id !== index + 1) {
        throw new MigrationError(
          `${join(set.directory, file)} is out of sequence: migrations must be named 0001_name.sql, 0002_name.sql, … without gaps.`,
        );
      }
      const sql = (await readFile(join(set.directory, file), 'utf8')).replaceAll('\r\n', '\n');
      return { id, file, sql, checksum: createHash('sha256').update(sql).digest('hex'), breaking: /^-- breaking\s*$/m.test(sql) };
    }),
  );
}

/** The role belongs to the cluster, not to the database, so another database's migration may be creating it at this moment. */
async function createAppRole(client: pg.Client): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      const { rows } = await client.query<{ there: boolean; member: boolean }>(
        `select exists (select from pg_roles where rolname = $1) as there,
                coalesce((select pg_has_role(current_user, oid, 'member') from pg_roles where rolname = $1), false) as member`,
        [APP_ROLE],
      );
      if (rows[0]?.member) return;
      if (!rows[0]?.there) await client.query(`create role ${APP_ROLE} nologin`);
      await client.query(`grant ${APP_ROLE} to current_user`);
      return;
    } catch (error) {
      // Lost the race with another database's migration: the role or the membership is there now.
      if (attempt < 10 && ['42710', '23505', 'XX000'].includes(sqlState(error) ?? '')) continue;
      throw new MigrationError(
        `This login is not a member of the role ${APP_ROLE} and cannot grant it. Run as an administrator: create role ${APP_ROLE} nologin; grant ${APP_ROLE} to "<this login>";`,
        { cause: error },
      );
    }
  }
}
