/**
 * A fresh, migrated database for a test file, on a real PostgreSQL.
 *
 * The server is started once for a run of jest (`libs/testing/jest`), or named by DATABASE_URL. Migrations run once into a template for
 * each combination of sets; a test's database is a copy of it.
 */
import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { APP_ROLE, createPool, type MigrationSet, migrate } from '@countersign/database';
import { EVENT_STORE_MIGRATIONS } from '@countersign/event-store';
import pg from 'pg';

export interface TestDatabase {
  ownerUrl: string;
  /** Connects under the application's role. */
  appUrl: string;
  ownerPool: pg.Pool;
  /** Connections under the application's role. */
  pool: pg.Pool;
  /** Makes the database's time go forward (K8): no test waits for a deadline. */
  advanceClock(seconds: number): Promise<void>;
  /** Makes the database's time stand still at an ISO time in UTC, so that a test meets a deadline exactly; null lets it go on. */
  stopClock(at: string | null): Promise<void>;
  /** Drops the database. @throws {Error} when a connection other than the two pools' was left open. */
  close(): Promise<void>;
}

const EVENT_BUS_DIRECTORY = fileURLToPath(new URL('../../event-bus/migrations', import.meta.url));

/** The event store's schema, and the event bus's where it has one. */
export function defaultSets(): MigrationSet[] {
  return [EVENT_STORE_MIGRATIONS, ...(existsSync(EVENT_BUS_DIRECTORY) ? [{ name: 'event_bus', directory: EVENT_BUS_DIRECTORY }] : [])];
}

/**
 * @param options.sets every schema the test needs, in order of dependency; event store and event bus when omitted.
 * The writer `test` may append to every category, beside the writers the migrations name.
 */
export async function testDatabase(options: { sets?: MigrationSet[] } = {}): Promise<TestDatabase> {
  const server = process.env.COUNTERSIGN_TEST_POSTGRES ?? process.env.DATABASE_URL;
  if (!server) throw new Error('No PostgreSQL for tests: run jest with the configuration at the root, or set DATABASE_URL.');
  const sets = options.sets ?? defaultSets();
  const name = `countersign_test_${randomBytes(8).toString('hex')}`;
  await withAdministrator(server, async (admin) => {
    const template = await templateFor(server, admin, sets);
    await admin.query(`create database ${name} template ${template}`);
  });

  const ownerUrl = databaseUrl(server, name);
  const appUrl = databaseUrl(server, name, `-c role=${APP_ROLE}`);
  const ownerPool = createPool({ connectionString: ownerUrl, max: 5, applicationName: 'test owner' });
  const pool = createPool({ connectionString: ownerUrl, role: APP_ROLE, max: 10, applicationName: 'test application' });
  return {
    ownerUrl,
    appUrl,
    ownerPool,
    pool,
    async advanceClock(seconds) {
      await ownerPool.query("update event_store.clock set ahead = ahead + $1 * interval '1 second'", [seconds]);
    },
    async stopClock(at) {
      if (at !== null && !/^[\dT:.-]+Z$/.test(at)) throw new Error(`${at} is no ISO time in UTC.`);
      // Time never goes back: from where it stood still it goes on.
      if (at === null) await ownerPool.query('update event_store.clock set ahead = greatest(ahead, event_store.now() - clock_timestamp())');
      const body = at === null ? 'select clock_timestamp() + ahead from event_store.clock' : `select '${at}'::timestamptz`;
      await ownerPool.query(`create or replace function event_store.now() returns timestamptz language sql volatile as $$ ${body} $$`);
    },
    async close() {
      await Promise.all([ownerPool.end(), pool.end()]);
      await withAdministrator(server, async (admin) => {
        const left = await connectionsLeft(admin, name);
        await admin.query(`drop database ${name} with (force)`);
        if (left.length > 0) throw new Error(`Connections to the test's database were left open: ${left.join('; ')}`);
      });
    },
  };
}

function databaseUrl(server: string, database: string, options?: string): string {
  const url = new URL(server);
  url.pathname = `/${database}`;
  if (options) url.searchParams.set('options', options);
  return url.href;
}

async function withAdministrator<T>(server: string, use: (admin: pg.Client) => Promise<T>): Promise<T> {
  const admin = new pg.Client({ connectionString: databaseUrl(server, 'postgres') });
  await admin.connect();
  try {
    return await use(admin);
  } finally {
    await admin.end();
  }
}

/** Made by whoever comes first; the others wait at the lock. Its name is a digest of the migrations, so a changed file makes another. */
async function templateFor(server: string, admin: pg.Client, sets: MigrationSet[]): Promise<string> {
  const digest = createHash('sha256');
  for (const set of sets) {
    digest.update(`${set.name}\0`);
    for (const file of (await readdir(set.directory)).sort()) digest.update(file).update(await readFile(join(set.directory, file)));
  }
  const key = digest.digest('hex').slice(0, 16);
  const name = `countersign_template_${key}`;
  await admin.query('select pg_advisory_lock(hashtext($1))', [name]);
  try {
    const { rows } = await admin.query<{ datistemplate: boolean }>('select datistemplate from pg_database where datname = $1', [name]);
    if (rows[0]?.datistemplate) return name;
    // A half-made one of a run that was killed.
    if (rows[0]) await admin.query(`drop database ${name} with (force)`);
    await admin.query(`create database ${name}`);
    const url = databaseUrl(server, name);
    await migrate(url, sets);
    const owner = new pg.Client({ connectionString: url });
    await owner.connect();
    await owner.query(
      "insert into event_store.writers select distinct '*', 'test', category from event_store.writers where db_role = '*' on conflict do nothing",
    );
    await owner.end();
    await admin.query(`alter database ${name} is_template true`);
    return name;
  } finally {
    await admin.query('select pg_advisory_unlock(hashtext($1))', [name]);
  }
}

/** Clients say goodbye without waiting for the server, so a closed connection may be seen for a moment. */
async function connectionsLeft(admin: pg.Client, database: string): Promise<string[]> {
  const deadline = Date.now() + 2_000;
  for (;;) {
    const { rows } = await admin.query<{ application_name: string; state: string; query: string }>(
      "select application_name, state, left(query, 80) as query from pg_stat_activity where datname = $1 and backend_type = 'client backend'",
      [database],
    );
    if (rows.length === 0) return [];
    if (Date.now() > deadline) return rows.map((row) => `"${row.application_name}" ${row.state}, last: ${row.query}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
