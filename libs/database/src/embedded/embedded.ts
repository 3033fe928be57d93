/**
 * The supervisor of an embedded PostgreSQL: one data folder, one server, one owner.
 *
 * E1 The server listens on 127.0.0.1 at a free port, asks everybody for a password (scram) and makes no socket file.
 * E2 It runs in its own process group with its log in a file, so a signal or the death of this process does not tear it down half way.
 * E3 This process's end takes the server along: `stop()`, an exit, or a signal nobody else listens for. Only SIGKILL leaves it running.
 * E4 A server that was left running is adopted by the next start; a `postmaster.pid` of a dead one is no obstacle.
 * E5 One process owns the server at a time: the owner holds an advisory lock on it through an open connection, which ends with the owner.
 */
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { EmbeddedPostgresError, initialise, OWNER, prepare } from './embedded-cluster.js';
import { alive, dieWithUs } from './embedded-process.js';
import { findServer, type Server, startServer, urlOf } from './embedded-server.js';

export { EmbeddedPostgresError };

export interface EmbeddedPostgres {
  /** Connection string of the owner (a superuser of this server), database `countersign`. Holds the password. */
  url: string;
  /** The postmaster. */
  pid: number;
  /** The server was found running, left by a process that was killed. */
  adopted: boolean;
  /** Resolves when the server is gone, whoever ended it. */
  exited: Promise<void>;
  /** Ends open transactions, checkpoints and stops; resolves when the process is gone. */
  stop(): Promise<void>;
}

export interface EmbeddedPostgresOptions {
  dataDir: string;
  logger?: { info(fields: object, message: string): void };
  /** Server settings beside the supervisor's own, such as `{ max_connections: '400' }`. `port`: instead of a free one. */
  settings?: Record<string, string>;
  /** Whose binaries: `linux-x64`, …; this machine's when omitted. */
  platform?: string;
}

class FolderInUse extends EmbeddedPostgresError {
  constructor(folder: string) {
    super(`${folder} is in use by another running instance. Stop that one first, or choose another DATA_DIR.`);
  }
}

const LOCK = 7316243872;
/** A server that has not ended its connections by then is told to drop everything; it recovers at its next start. */
const STOP_MS = 60_000;

/**
 * Starts PostgreSQL on a folder of its own (created when missing), or adopts the one running there.
 *
 * The folder holds `cluster/` (the data), `password` (0600) and `server.log`; started by root it is passable for others (0711).
 * @throws {EmbeddedPostgresError} no binaries for this platform, folder of a newer or older major version, damaged folder, folder in use.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const place = await prepare(resolve(options.dataDir), options.platform ?? `${process.platform}-${process.arch}`);
  const password = await initialise(place);
  const server = (await findServer(place, password)) ?? (await startServer(place, password, options.settings ?? {}));
  const url = (database: string) => urlOf(server.port, password, database);
  const owner = await own(url('postgres'), place.folder).catch((error) => {
    server.release();
    // One that was quicker to adopt what we started owns it now: it is not ours to stop.
    if (!server.adopted && !(error instanceof FolderInUse) && alive(server.pid)) process.kill(server.pid, 'SIGINT');
    throw error;
  });
  options.logger?.info({ pid: server.pid, adopted: server.adopted }, 'PostgreSQL is running');
  return supervise(server, owner, url);
}

function supervise(server: Server, owner: pg.Client, url: (database: string) => string): EmbeddedPostgres {
  const { pid } = server;
  const release = server.adopted ? dieWithUs(pid) : server.release;
  let connection = owner;
  let stopping: Promise<void> | undefined;

  const exited = new Promise<void>((settle) => {
    const watch = (client: pg.Client) => {
      connection = client;
      client.once('end', async () => {
        // The connection may break while the server lives; whoever holds it owns the server, so it is made again.
        while (alive(pid)) {
          const again = stopping ? null : await own(url('postgres'), 'The data folder').catch(() => null);
          if (again) return watch(again);
          await sleep(50, undefined, { ref: false });
        }
        release();
        settle();
      });
    };
    watch(owner);
  });

  const stop = async () => {
    if (alive(pid)) process.kill(pid, 'SIGINT');
    const deadline = Date.now() + STOP_MS;
    while (alive(pid)) {
      if (Date.now() > deadline) process.kill(pid, 'SIGQUIT');
      await sleep(10);
    }
    await connection.end().catch(() => {});
    release();
  };
  return {
    url: url(OWNER),
    pid,
    adopted: server.adopted,
    exited,
    stop: () => {
      stopping ??= stop();
      return stopping;
    },
  };
}

/** Takes the owner's lock and makes the database. The connection stays open and does not keep the process alive. */
async function own(url: string, folder: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, application_name: 'countersign supervisor', keepAlive: true });
  client.on('error', () => {});
  await client.connect();
  // A predecessor that was killed a moment ago may not have been noticed yet.
  for (let tries = 0; ; tries++) {
    const { rows } = await client.query<{ ours: boolean }>('select pg_try_advisory_lock($1) as ours', [LOCK]);
    if (rows[0]?.ours) break;
    if (tries >= 20) {
      await client.end();
      throw new FolderInUse(folder);
    }
    await sleep(100);
  }
  const { rowCount } = await client.query('select from pg_database where datname = $1', [OWNER]);
  if (rowCount === 0) await client.query(`create database ${OWNER}`);
  (client as unknown as { unref(): void }).unref();
  return client;
}
