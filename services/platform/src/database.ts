import { EmbeddedPostgresError, startEmbeddedPostgres } from '@countersign/database';
import type { Logger } from '@countersign/telemetry';
import pg from 'pg';
import { CannotStart, systemCode } from './cannot-start.js';
import type { DataDirectory } from './data/data-directory.js';

/** A PostgreSQL this process works on. */
export interface PlatformDatabase {
  /** Of the owner of the schemas; holds a password. */
  ownerUrl: string;
  /** Resolves when an embedded server is gone although nobody here stopped it; never for an external one, which may come back. */
  lost: Promise<void>;
  stop(): Promise<void>;
}

/** @throws {CannotStart} when there is no database to work on. */
export async function openDatabase(options: {
  url: string | undefined;
  /** Where an embedded one lives. */
  directory: Pick<DataDirectory, 'postgres' | 'expectDatabase' | 'databaseMade'>;
  logger: Logger;
}): Promise<PlatformDatabase> {
  return options.url === undefined ? embedded(options.directory, options.logger) : openExternal(options.url);
}

async function embedded(
  { postgres: folder, ...directory }: Parameters<typeof openDatabase>[0]['directory'],
  logger: Logger,
): Promise<PlatformDatabase> {
  try {
    directory.expectDatabase();
    const server = await startEmbeddedPostgres({ dataDir: folder, logger });
    directory.databaseMade();
    let stopping = false;
    return {
      ownerUrl: server.url,
      lost: server.exited.then(() => (stopping ? new Promise<void>(() => {}) : undefined)),
      stop: () => {
        stopping = true;
        return server.stop();
      },
    };
  } catch (error) {
    if (error instanceof EmbeddedPostgresError) throw new CannotStart(error.message, { cause: error });
    if (systemCode(error)?.startsWith('E')) {
      throw new CannotStart(
        `The embedded PostgreSQL cannot use ${folder} (${(error as Error).message}). Set DATA_DIR to another directory.`,
        {
          cause: error,
        },
      );
    }
    throw error;
  }
}

/** A PostgreSQL somebody else runs. @throws {CannotStart} when it cannot be used. */
export async function openExternal(url: string): Promise<PlatformDatabase> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000, application_name: 'countersign platform' });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ version: number }>(`select current_setting('server_version_num')::int as version`);
    const major = Math.floor((rows[0]?.version ?? 0) / 10_000);
    if (major < 15) throw new CannotStart(`DATABASE_URL points to PostgreSQL ${major}; Countersign requires 15 or newer.`);
    return { ownerUrl: url, lost: new Promise(() => {}), stop: async () => {} };
  } catch (error) {
    if (error instanceof CannotStart) throw error;
    const { host } = new URL(url);
    throw new CannotStart(`Cannot use the PostgreSQL at DATABASE_URL (${host}): ${reasonOf(error)}. Check the address and login.`, {
      cause: error,
    });
  } finally {
    await client.end().catch(() => {});
  }
}

/** Node reports a refused connection to a name with several addresses as an aggregate with an empty message. */
function reasonOf(error: unknown): string {
  const { message, errors } = error as { message?: string; errors?: Error[] };
  return (message || errors?.map((each) => each.message).join(', ') || String(error)).replace(/\.$/, '');
}
