/** Finding the server of a folder, or starting one, until it accepts connections. */
import { type ChildProcess, spawn } from 'node:child_process';
import { open, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { freePorts } from '../free-ports.js';
import { sqlState } from '../transaction.js';
import { EmbeddedPostgresError, OWNER, type Place, serverEnvironment } from './embedded-cluster.js';
import { alive, dieWithUs, isServerOf, lastLines, readPostmasterPid } from './embedded-process.js';

export interface Server {
  pid: number;
  port: number;
  /** Found running; false when this process started it. */
  adopted: boolean;
  /** Undoes that the server ends with this process. */
  release(): void;
}

const START_MS = 120_000;
/** A server that starts writes its number a moment after it made the file; one that stays without was left by a crash. */
const UNWRITTEN_MS = 2_000;
/** Another process starts a server on this folder right now. */
const OTHER_STARTS = /lock file "postmaster.pid" (already exists|is empty)|bogus data in lock file/;
/** What passes by itself: children of a killed server still hold its memory; the port was taken since we looked. */
const PASSES = /shared memory block|could not bind|Address already in use|could not create any TCP/;
const LONGEST_LOG = 10_000_000;

export function urlOf(port: number, password: string, database: string): string {
  return `postgresql://${OWNER}:${password}@127.0.0.1:${port}/${database}`;
}

/** The server left by a process that was killed, once it accepts connections; null when there is none (any more). */
export async function findServer(place: Place, password: string): Promise<Server | null> {
  const begun = Date.now();
  const deadline = begun + START_MS;
  while (Date.now() < deadline) {
    const file = await readPostmasterPid(place.cluster);
    if (!file) return null;
    if (file.pid === 0 && Date.now() - begun < UNWRITTEN_MS) {
      await sleep(20);
      continue;
    }
    if (!alive(file.pid) || !(await isServerOf(file.pid, place.cluster))) {
      // The number may belong to somebody else by now; PostgreSQL would take that process for a server and refuse to start.
      const now = await readPostmasterPid(place.cluster);
      if (now && now.pid !== file.pid) continue;
      await rm(join(place.cluster, 'postmaster.pid'), { force: true });
      return null;
    }
    if (file.port !== null && (await accepts(file.port, password, place))) {
      return { pid: file.pid, port: file.port, adopted: true, release: () => {} };
    }
    await sleep(50);
  }
  throw new EmbeddedPostgresError(
    `A PostgreSQL server is running on ${place.cluster} but does not accept connections. Stop it and start again. Log: ${place.log}.`,
  );
}

/** Starts a server; gives the one of another process that was faster. */
export async function startServer(place: Place, password: string, settings: Record<string, string>): Promise<Server> {
  await turnLog(place.log);
  const deadline = Date.now() + START_MS;
  let said = '';
  while (Date.now() < deadline) {
    const port = settings.port === undefined ? ((await freePorts(1))[0] as number) : Number(settings.port);
    const before = await sizeOf(place.log);
    const child = await launch(place, port, settings);
    const pid = child.pid ?? 0;
    const release = pid > 0 ? dieWithUs(pid) : () => {};
    if (await untilReady(child, port, password, place, deadline)) return { pid, port, adopted: false, release };
    release();
    said = await lastLines(place.log, before);
    if (OTHER_STARTS.test(said)) {
      const other = await findServer(place, password);
      if (other) return other;
    } else if (!PASSES.test(said)) {
      break;
    }
    await sleep(100);
  }
  throw new EmbeddedPostgresError(
    `PostgreSQL could not start on ${place.cluster}; the data may be damaged. Last log lines (${place.log}): ${said.trim() || 'none'}`,
  );
}

async function launch(place: Place, port: number, settings: Record<string, string>): Promise<ChildProcess> {
  const log = await open(place.log, 'a', 0o600);
  const options = {
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: '',
    fsync: 'on',
    max_connections: '200',
    logging_collector: 'off',
    log_min_messages: 'warning',
    ...settings,
  };
  try {
    // Its own group: a Ctrl-C meant for this program does not reach the server before the program has drained.
    const child = spawn(
      join(place.binaries, 'bin', 'postgres'),
      ['-D', place.dataArgument, ...Object.entries(options).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
      { cwd: place.cluster, ...place.user, env: serverEnvironment(), detached: true, stdio: ['ignore', log.fd, log.fd] },
    );
    child.unref();
    return child;
  } finally {
    await log.close();
  }
}

async function untilReady(child: ChildProcess, port: number, password: string, place: Place, deadline: number): Promise<boolean> {
  let gone = child.pid === undefined;
  for (const event of ['exit', 'error']) {
    child.once(event, () => {
      gone = true;
    });
  }
  while (!gone && Date.now() < deadline) {
    if (await accepts(port, password, place)) return !gone;
    await sleep(20);
  }
  if (!gone) child.kill('SIGQUIT');
  return false;
}

/** @throws {EmbeddedPostgresError} when a server answers and the password is not its owner's. */
async function accepts(port: number, password: string, place: Place): Promise<boolean> {
  const client = new pg.Client({ connectionString: urlOf(port, password, 'postgres'), connectionTimeoutMillis: 5_000 });
  client.on('error', () => {});
  try {
    await client.connect();
    return true;
  } catch (error) {
    if (sqlState(error) !== '28P01') return false;
    throw new EmbeddedPostgresError(
      `The password in ${place.password} does not match the data in ${place.cluster}. Restore the file from a backup.`,
      {
        cause: error,
      },
    );
  } finally {
    await client.end().catch(() => {});
  }
}

async function sizeOf(path: string): Promise<number> {
  return stat(path).then(
    (found) => found.size,
    () => 0,
  );
}

/** Keeps one older log. */
async function turnLog(path: string): Promise<void> {
  if ((await sizeOf(path)) > LONGEST_LOG) await rename(path, `${path}.1`);
}
